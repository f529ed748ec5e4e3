"""Complementarity and contact problems."""
