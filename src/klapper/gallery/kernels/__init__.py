"""Compiled loops of single examples. Their names begin with _ so that the catalogue does not import them."""
