"""Runs whose every number is known in closed form."""

from typing import Any

import numpy as np

from klapper.contact_states import IMPACT, OPEN, SLIP, STICK
from klapper.results import Layout, Loaded, Run, Samples

GRAVITY = 9.81


def bouncing_ball(
    *, mass: float = 2.0, height: float = 1.0, restitution: float = 0.8, until: float = 3.0, count: int = 601
) -> Run:
    """A ball dropped from rest: arcs between impacts whose speeds form a geometric series.

    The n-th impact is at T (1 + 2 (e + e² + … + eⁿ⁻¹)) with T = √(2 h / g), at the speed eⁿ⁻¹ g T; at
    T (1 + e) / (1 − e) the ball is at rest.
    """
    fall = np.sqrt(2 * height / GRAVITY)
    number = np.arange(200)
    speed = GRAVITY * fall * restitution**number
    hit = fall * (1 + 2 * np.r_[0.0, np.cumsum(restitution ** number[1:])])
    rest = fall * (1 + restitution) / (1 - restitution)
    time = np.linspace(0.0, until, count)
    arc = np.searchsorted(hit, time)  # impacts up to this time
    since = time - np.r_[0.0, hit][arc]
    start = np.r_[0.0, restitution * speed][arc]
    y = np.where(arc == 0, height, start * since) - GRAVITY * since**2 / 2
    v = start - GRAVITY * since
    lost = mass / 2 * (1 - restitution**2) * np.r_[0.0, np.cumsum(speed**2)][arc]
    resting = time >= rest
    y[resting], v[resting], lost[resting] = 0.0, 0.0, mass * GRAVITY * height
    impulse = np.zeros(count)
    given = mass * (1 + restitution) * np.r_[0.0, np.cumsum(speed)][arc]
    impulse[1:] = np.diff(given)
    state = np.where(np.r_[0, np.diff(arc)] > 0, IMPACT, OPEN)
    begin = int(np.argmax(resting)) if resting.any() else count
    impulse[begin + 1 :] = mass * GRAVITY * np.diff(time[begin:])
    state[begin:] = STICK
    if begin < count:  # the infinitely many last impacts
        state[begin] = IMPACT
        impulse[begin] = -mass * v[begin - 1] + mass * GRAVITY * (time[begin] - time[begin - 1])
    energy = np.zeros((count, 7))
    energy[:, 0], energy[:, 1], energy[:, 5] = mass * v**2 / 2, mass * GRAVITY * y, lost
    samples = Samples(
        step=10 * np.arange(count),
        time=time,
        position=y[:, None],
        velocity=v[:, None],
        gap=y[:, None],
        impulse=impulse[:, None, None],
        state=state[:, None],
        constraint_impulse=np.zeros((count, 0)),
        energy=energy,
        residual=np.full(count, 1e-15),
    )
    about = {
        "system": "bouncing ball",
        "scheme": {"name": "closed form", "restitution": restitution},
        "version": "0.1.0",
        "steps": 10 * (count - 1),
        "wall_time": 0.25,
        "status": "complete",
        "message": "",
        "audit": {"motion": "unique", "solver": {"name": "none", "failures": 0}},
        "citations": ["moreau1988", "jean1999"],
    }
    return Run(Layout(("ball y",), ("ball y",), ("floor",), 0), samples, about)


def braked_block(
    *, mass: float = 3.0, speed: float = 2.0, friction: float = 0.3, until: float = 1.0, count: int = 401
) -> Run:
    """A block that slides on a rough floor until it sticks at v₀ / (μ g); then a pull below the limit is put on."""
    time = np.linspace(0.0, until, count)
    stop = speed / (friction * GRAVITY)
    slid = np.minimum(time, stop)
    v = speed - friction * GRAVITY * slid
    v[time >= stop] = 0.0
    x = speed * slid - friction * GRAVITY * slid**2 / 2
    weight = mass * GRAVITY
    impulse = np.zeros((count, 1, 2))
    impulse[1:, 0, 0] = weight * np.diff(time)
    impulse[1:, 0, 1] = -friction * weight * np.diff(slid)
    energy = np.zeros((count, 7))
    energy[:, 0], energy[:, 1], energy[:, 4] = mass * v**2 / 2, 5.0, friction * weight * x
    samples = Samples(
        step=np.arange(count),
        time=time,
        position=np.column_stack([x, np.zeros(count)]),
        velocity=np.column_stack([v, np.zeros(count)]),
        gap=np.zeros((count, 1)),
        impulse=impulse,
        state=np.where(time < stop, SLIP, STICK)[:, None],
        constraint_impulse=np.zeros((count, 0)),
        energy=energy,
        residual=np.zeros(count),
    )
    names = ("block x", "block y")
    return Run(Layout(names, names, ("floor",), 1), samples, {"system": "braked block", "status": "complete"})


def driven_oscillator(*, until: float = 20.0, count: int = 2001) -> Run:
    """m x'' + d x' + c x = F cos Ωt from rest, with the energies of the exact solution; no contact, one constraint."""
    mass, damping, stiffness, load, omega = 1.0, 0.2, 4.0, 1.0, 1.5
    time = np.linspace(0.0, until, count)
    decay = damping / (2 * mass)
    natural = np.sqrt(stiffness / mass - decay**2)
    steady = load / (stiffness - mass * omega**2 + 1j * damping * omega)
    a, b = -steady.real, (-decay * steady.real + omega * steady.imag) / natural
    wave = np.exp(-decay * time)
    c, s = np.cos(natural * time), np.sin(natural * time)
    x = (steady * np.exp(1j * omega * time)).real + wave * (a * c + b * s)
    v = (1j * omega * steady * np.exp(1j * omega * time)).real
    v += wave * ((-decay * a + natural * b) * c + (-decay * b - natural * a) * s)
    fine = np.linspace(0.0, until, 40 * (count - 1) + 1)
    vf = np.interp(fine, time, v)
    work = np.interp(time, fine, _integral(fine, load * np.cos(omega * fine) * vf))
    energy = np.zeros((count, 7))
    energy[:, 0], energy[:, 1], energy[:, 2] = mass * v**2 / 2, stiffness * x**2 / 2, work
    energy[:, 3] = np.interp(time, fine, _integral(fine, damping * vf**2))
    energy[:, 6] = work - energy[:, 0] - energy[:, 1] - energy[:, 3]
    samples = Samples(
        step=np.arange(count),
        time=time,
        position=x[:, None],
        velocity=v[:, None],
        gap=np.zeros((count, 0)),
        impulse=np.zeros((count, 0, 1)),
        state=np.zeros((count, 0)),
        constraint_impulse=np.r_[0.0, np.diff(time)][:, None] * 7.0,
        energy=energy,
        residual=np.zeros(count),
    )
    return Run(Layout(("x",), ("x",), (), 0, ("guide",)), samples, {"system": "driven oscillator"})


def _integral(time: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return np.r_[0.0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(time))]


def run_of_states(
    state: np.ndarray, *, tangential: int = 1, time: np.ndarray | None = None, seed: int = 0
) -> Run:
    """A run with given contact states (s, m) and arbitrary impulses in the closed ones."""
    count, contacts = state.shape
    rng = np.random.default_rng(seed)
    impulse = rng.standard_normal((count, contacts, 1 + tangential)) * (state != OPEN)[:, :, None]
    samples = Samples(
        step=np.arange(count),
        time=np.arange(count) * 0.5 if time is None else time,
        position=np.zeros((count, 1)),
        velocity=np.zeros((count, 1)),
        gap=rng.random((count, contacts)),
        impulse=impulse,
        state=state,
        constraint_impulse=np.zeros((count, 0)),
        energy=np.zeros((count, 7)),
        residual=np.zeros(count),
    )
    names = tuple(f"contact {number}" for number in range(contacts))
    return Run(Layout(("q",), ("v",), names, tangential), samples)


def logged_by_number(run: Run) -> Run:
    """The same run, with the contacts that are not open logged by number."""
    samples = run.samples
    sample, contact = np.nonzero(samples.state != OPEN)
    start = np.r_[0, np.cumsum((samples.state != OPEN).sum(axis=1))]
    pick = (sample, contact)
    log = Loaded(start, contact, samples.gap[pick], samples.impulse[pick], samples.state[pick])
    count = len(samples)
    empty: dict[str, Any] = {
        "gap": np.zeros((count, 0)),
        "impulse": np.zeros((count, 0, 1 + run.layout.tangential)),
        "state": np.zeros((count, 0)),
    }
    names = ("step", "time", "position", "velocity", "constraint_impulse", "energy", "residual")
    kept = {name: getattr(samples, name) for name in names}
    layout = Layout(run.layout.coordinates, run.layout.velocities, (), run.layout.tangential)
    return Run(layout, Samples(**kept, **empty, loaded=log), run.about)
