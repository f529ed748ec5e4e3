"""A motion through a given sequence of switches at given times, with the derivatives of all of it.

    x₁ → x₁⁺ = R₁(t₁, x₁) → x₂ = φ₁(t₁, t₂, x₁⁺) → x₂⁺ → … → x_{k+1} = φ_k(t_k, t_{k+1}, x_k⁺)

Whether the triggers h_i(t_i, x_i) vanish there is another question: that they do are equations for the times. Nothing
is searched for, and everything depends smoothly on x₁ and the times, also where an impact is without speed. Where the
triggers vanish, eliminating the times gives the derivative of the motion itself,

    ∂x_{k+1}/∂x₁ = Φ_k S_k … Φ_1 S_1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from klapper.analysis.periodic.switch import Switch, saltation
from klapper.schemes.phase_map import Arrival, Linearised, PhaseMaps
from klapper.schemes.phase_modes import Modes


@dataclass(frozen=True, eq=False)
class Passage:
    """k switches and the k phases that begin with them.

    ``times``     (k + 1,) [s] of the switches, and of the end
    ``before``    (k, 2n) states at the switches, ``entered`` (k, 2n) after them; ``end`` (2n,)
    ``triggers``  h_i with their derivatives, zero where a switch is really reached; None for a clock
    ``resets``    R_i with their derivatives, ``arrivals`` φ_i with theirs
    ``triggers_by``, ``end_by``  derivatives (k, 2n + k + 1) of the triggers and (2n, 2n + k + 1) of the end by x₁ and
                  the times
    ``first``     modes of the phase that the first switch ends
    """

    maps: PhaseMaps
    first: Modes
    switches: tuple[Switch, ...]
    times: np.ndarray
    before: np.ndarray
    entered: np.ndarray
    end: np.ndarray
    triggers: tuple[Linearised | None, ...]
    resets: tuple[Linearised, ...]
    arrivals: tuple[Arrival, ...]
    triggers_by: np.ndarray
    end_by: np.ndarray

    @cached_property
    def slopes(self) -> np.ndarray:
        """F⁻ (k, 2n) at the switches."""
        modes = (self.first, *(switch.after for switch in self.switches[:-1]))
        at = zip(modes, self.times[:-1], self.before, strict=True)
        return np.array([self.maps.of(mode).slope(t, x) for mode, t, x in at])

    @cached_property
    def rates(self) -> np.ndarray:
        """dh/dt (k,) of the triggers, below zero where a switch is really reached; 0 for a clock."""
        return np.array(
            [
                0.0 if h is None else float(h.by_time + h.by_state @ slope)
                for h, slope in zip(self.triggers, self.slopes, strict=True)
            ]
        )

    @cached_property
    def monodromy(self) -> np.ndarray:
        """∂x_{k+1}/∂x₁ (2n, 2n) by saltation matrices."""
        product = np.eye(len(self.end))
        for i, (trigger, reset) in enumerate(zip(self.triggers, self.resets, strict=True)):
            jump = reset.by_state
            if trigger is not None:
                new_slope = self.maps.of(self.switches[i].after).slope(self.times[i], self.entered[i])
                jump = saltation(trigger, reset, self.slopes[i], new_slope)
            product = self.arrivals[i].by_state @ jump @ product
        return product


def pass_through(
    maps: PhaseMaps, first: Modes, switches: Sequence[Switch], x: np.ndarray, times: np.ndarray
) -> Passage:
    """From the state ``x`` (2n,) before the first switch; ``times`` (k + 1,) [s]."""
    size, k = len(x), len(switches)
    column = size + np.arange(k + 1)
    by = np.zeros((size, size + k + 1))
    by[:, :size] = np.eye(size)
    before, entered, triggers_by = np.zeros((k, size)), np.zeros((k, size)), np.zeros((k, size + k + 1))
    triggers: list[Linearised | None] = []
    resets, arrivals = [], []
    previous = first
    for i, switch in enumerate(switches):
        before[i] = x
        trigger = None if switch.is_clock else switch.trigger(maps, maps.of(previous), times[i], x)
        if trigger is not None:
            triggers_by[i] = trigger.by_state @ by
            triggers_by[i, column[i]] += trigger.by_time
        reset = switch.entered(maps, times[i], x)
        entered[i] = reset.value
        by = reset.by_state @ by
        by[:, column[i]] += reset.by_time
        arrival = maps.of(switch.after).arrival(times[i], reset.value, times[i + 1])
        by = arrival.by_state @ by
        by[:, column[i]] += arrival.by_start
        by[:, column[i + 1]] += arrival.by_end
        x, previous = arrival.state, switch.after
        triggers.append(trigger)
        resets.append(reset)
        arrivals.append(arrival)
    return Passage(
        maps,
        first,
        tuple(switches),
        times,
        before,
        entered,
        x,
        tuple(triggers),
        tuple(resets),
        tuple(arrivals),
        triggers_by,
        by,
    )


def pass_only(
    maps: PhaseMaps, first: Modes, switches: Sequence[Switch], x: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The triggers (of all but clocks) and the end (2n,) of :func:`pass_through`, without their derivatives."""
    triggers, previous = [], first
    for i, switch in enumerate(switches):
        if not switch.is_clock:
            triggers.append(float(switch.trigger(maps, maps.of(previous), times[i], x).value))
        entered = switch.entered(maps, times[i], x).value
        x = maps.of(switch.after).destination(times[i], entered, times[i + 1])
        previous = switch.after
    return np.array(triggers), x
