"""Compiled loops over the cells of a continuum: arrays in, arrays out."""
