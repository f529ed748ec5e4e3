"""Figures and timings behind the page "Forces that the model leaves open"."""
