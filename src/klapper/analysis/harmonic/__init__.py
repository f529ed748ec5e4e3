"""Harmonic balance of systems with contacts: periodic motions as Fourier series, and curves of them over frequency."""

from klapper.analysis.harmonic.curve import HarmonicCurve
from klapper.analysis.harmonic.follow import follow_harmonic
from klapper.analysis.harmonic.newton import NoBalance
from klapper.analysis.harmonic.response import HarmonicResponse
from klapper.analysis.harmonic.solve import harmonic_response

__all__ = ["HarmonicCurve", "HarmonicResponse", "NoBalance", "follow_harmonic", "harmonic_response"]
