"""Harmonic balance of systems with contacts: periodic motions as Fourier series, and curves of them over frequency."""
