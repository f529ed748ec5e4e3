"""Damaged and hostile files by the thousand: every kind of file that klapper reads.

    python -m tools.fuzz_files --seed 1 --count 1000             # of every kind
    python -m tools.fuzz_files --seed 1 --count 1 --first 4711 --kind mesh   # one case again, with its traceback

``samples`` writes whole files, ``damage`` changes them by chance, ``hostile`` makes those that want to do harm,
``reading`` reads them as klapper does. A case is right if the file is read or refused in one sentence, in 5 s of
processor time and 500 MB, if nothing outside of its folder is opened, and if all files are afterwards as they were.
Cases run in processes with limits; one that ends its process is told like the others.
"""
