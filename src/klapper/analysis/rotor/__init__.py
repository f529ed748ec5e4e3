"""Linear analysis of rotors over their speed: stability, critical speeds, opening, gravity, clatter.

In the frame that turns with the rotor at Ω,

    M q̈ + (Ω G + D_in + D_a) q̇ + (K_el − Ω² K_c + Ω P) q = Ω² f_c + Ω f_da + f_g(t)     Waltersberger (5.114)

(λ² M + λ (Ω G + D) + K_el − Ω² K_c + Ω P) q̂ = 0 decides on stability, (5.167). Centrifugal forces open a joint,
(5.161), gravity shakes it once per turn, (5.163); where the second exceeds the first it clatters, (5.166).

Speeds are revolutions per second [Hz]. Everything over speeds is computed in batches.
"""

from klapper.analysis.rotor.bands import (
    Band,
)
from klapper.analysis.rotor.clatter import (
    GRAVITY,
    ClatterMap,
    GravityResonance,
    centrifugal_deflection,
    clatter_bands,
    clatter_map,
    gravity_resonance_of_pair,
    gravity_resonances,
    gravity_response,
)
from klapper.analysis.rotor.matrices import (
    RotorMatrices,
)
from klapper.analysis.rotor.stability import (
    Campbell,
    Parity,
    ThomsonTait,
    campbell,
    critical_speeds,
    determinant_parity,
    eigenvalues,
    growth,
    thomson_tait,
    unstable_bands,
)

__all__ = [
    "GRAVITY",
    "Band",
    "Campbell",
    "ClatterMap",
    "GravityResonance",
    "Parity",
    "RotorMatrices",
    "ThomsonTait",
    "campbell",
    "centrifugal_deflection",
    "clatter_bands",
    "clatter_map",
    "critical_speeds",
    "determinant_parity",
    "eigenvalues",
    "gravity_resonance_of_pair",
    "gravity_resonances",
    "gravity_response",
    "growth",
    "thomson_tait",
    "unstable_bands",
]
