"""Compiled time loops: arrays in, arrays out."""
