"""Compiled functions of rigid bodies, the same for all models; they read the tables of ``klapper.bodies.rigid_tables``.

Nothing here is imported before a compiled form is asked for.
"""
