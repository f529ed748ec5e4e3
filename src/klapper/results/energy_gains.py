"""Where contacts of a run gave energy instead of taking it.

Contacts take E_friction + E_impact out of a motion; where that sum falls over a sample with an impact, they gave. An
impact law can do that with friction, which is not physical; the audit of a run says so.
"""

from __future__ import annotations

import numpy as np

from klapper.contact_states import IMPACT
from klapper.counting import counted
from klapper.results.run import Run
from klapper.results.samples import ENERGY, Samples


def energy_gains(run: Run) -> dict[str, str]:
    """Where contacts gave energy instead of taking it: an impact law can do that with friction."""
    energy = run.samples.energy
    taken = energy[:, ENERGY.index("friction")] + energy[:, ENERGY.index("impact")]
    gains = -np.diff(taken, prepend=taken[:1])
    noise = 1e-9 * max(run.ledger.scale, 1e-300)
    when = np.flatnonzero((gains > noise) & _hits(run.samples))
    if len(when) == 0:
        return {}
    worst = int(when[np.argmax(gains[when])])
    loaded = run.samples.impulse[worst, :, 0] if run.layout.contacts else np.zeros(0)
    by = (
        f", most of the impulse at '{run.layout.contacts[int(np.argmax(loaded))]}'"
        if np.any(loaded > 0)
        else ""
    )
    return {
        "energy gain": f"contacts gave energy in {counted(len(when), 'sample')}, most at "
        f"{run.samples.time[worst]:.6g} s: "
        f"{gains[worst]:.3g} J{by}. Restitution together with friction can do that, and so can a loose tolerance of "
        f"the contact problems; it is not physical"
    }


def _hits(samples: Samples) -> np.ndarray:
    """Which samples (s,) saw an impact."""
    if samples.loaded is None:
        return np.any(samples.state == IMPACT, axis=1)
    hit = np.zeros(len(samples), dtype=bool)
    hit[samples.loaded.sample[samples.loaded.state == IMPACT]] = True
    return hit
