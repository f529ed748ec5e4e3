"""Compiled functions of models. Nothing here is imported before a compiled form is asked for."""
