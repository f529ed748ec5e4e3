"""Compiled analyses: numbers in, numbers out."""
