"""The compiled step of Moreau's scheme for every system that has a compiled form.

The formulas are those of ``klapper.schemes.moreau_step``, which is the readable reference and does the steps that this
code leaves.
"""
