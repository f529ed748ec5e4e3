"""Frictional contact problems in files: klapper's ``auto`` beside its single solvers and Siconos.

    python -m benchmarks.files.run [FOLDER]

Without a folder the small problems of ``benchmarks/files/problems`` are solved; ``generate.py`` made them.
"""
