"""Samplers after their first draw, and observations in parts."""

import numpy as np

from skdp._executors._base import add_changes
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._common._protocol import values_for


class Parts:
    """Observations in parts; sequences begin with them."""

    def __init__(self, parts):
        self.parts = parts
        self.n_features = parts[0].shape[1]

    def sum(self, f, *args):
        return add_changes(*(f(part, *args) for part in self.parts))


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def started(emission, values, n_states=4, ptr=None):
    """Return a sampler after its first draw, and the states that it began with."""
    values = np.asarray(values, dtype=float)
    ptr = np.array([0, len(values)]) if ptr is None else ptr
    sampler = emission.make_sampler(values, n_states, *values_for(emission, values, ptr)[1:])
    sampler.attach(*values_for(sampler, values, ptr))
    states, rng = np.full(len(values), -1, dtype=np.int64), stream()
    sampler.start(states, rng)
    sampler.draw(states, rng)
    return sampler, states


def log_obs(sampler, n_steps, n_states=4):
    """Return the log densities under the parameters that were drawn last, (n_steps, n_states)."""
    out = np.full((n_steps, n_states), 7.0)
    sampler.write_log_obs(out)
    return out
