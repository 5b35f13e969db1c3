"""Small problems of binary factors, of which everything can be summed up."""

import numpy as np
from exact.oracles.binary_factors import Problem

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.emissions._binary_factors._emission import BinaryFactorEmission
from skdp.emissions._protocol import Coupling

NAN = np.nan
N_DRAWS = 20_000

DATA = {
    "values": ((0.4, 1.1), (0.7, 0.2), (1.3, -0.3), (0.1, 0.9)),
    "states": (0, 0, 1, 0),
    "weights": ((0.1, -0.2), (0.8, 0.5), (-0.4, 0.7)),
    "precisions": (1.5, 0.7),
    "probit": (False, False),
}
MIXED = {
    **DATA,
    "values": ((0.4, 1.0), (0.7, 0.0), (1.3, 1.0), (0.1, 1.0)),
    "precisions": (1.5, 1.0),
    "probit": (False, True),
}
MISSING = {**DATA, "values": ((0.4, NAN), (NAN, 0.2), (NAN, -0.3), (0.1, 0.9))}
VARIED = {**DATA, "amplitude_variance": 0.6}
THREE_FACTORS = {**DATA, "weights": (*DATA["weights"], (0.6, 0.6)), "activity_prior": (0.7, 1.6)}
ONE_FACTOR = {
    "values": ((1.0,), (0.0,), (1.0,), (1.0,)),
    "states": (0, 1, 1, 0),
    "weights": ((-0.6,), (1.9,)),
    "precisions": (1.0,),
    "probit": (True,),
}
TWO_STATES = {
    "decay": 0.6,
    "counts": ((1, 2), (1, 6), (0, 1)),
    "log_rates": ((-0.3, 1.2), (1.0, -0.4), (0.0, 0.0)),
}
# A sum of rates that is all but one term, and another whose largest term is far from the diagonal.
TINY_RATES = {
    "decay": 0.8,
    "counts": ((0, 2), (1, 1), (0, 1)),
    "log_rates": ((-1000.0, -3.0), (-1000.0, -1002.0), (0.0, -1000.0)),
}
GREAT_DECAY = {
    "decay": 400.0,
    "counts": ((1, 0), (0, 0), (0, 1)),
    "log_rates": ((-401.0, -1.0), (0.0, -1000.0), (0.0, 0.0)),
}
THREE_STATES = {
    "n_states": 3,
    "decay": 0.6,
    "counts": ((1, 1, 0), (1, 6, 0), (0, 0, 0), (0, 1, 0)),
    "log_rates": ((0.3, -1.2, 1.5), (-2.0, 0.4, 0.9), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
}
FOUR_STATES = {
    "n_states": 4,
    "decay": 1.3,
    "counts": ((1, 3, 0, 0), (2, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 1, 0, 0)),
    "log_rates": (
        (0.3, -1.2, 1.5, 0.1), (-2.0, 0.4, 0.9, -1000.0), (0.0,) * 4, (0.0,) * 4, (0.0,) * 4,
    ),
}  # fmt: skip

CASES = {
    "normal": Problem(**DATA),
    "idle state": Problem(**DATA, n_states=3, activity_prior=(0.4, 1.5)),
    "missing": Problem(**MISSING),
    "three factors": Problem(**THREE_FACTORS),
    "probit": Problem(**ONE_FACTOR),
    "both": Problem(**MIXED),
    "amplitudes": Problem(**VARIED, n_states=3),
    "amplitudes, missing": Problem(**MISSING, amplitude_variance=0.6),
    "amplitudes, three factors": Problem(**THREE_FACTORS, amplitude_variance=0.3),
    "coupled": Problem(**DATA, **TWO_STATES),
    "coupled, amplitudes": Problem(**THREE_FACTORS, **TWO_STATES, amplitude_variance=0.6),
    "coupled, both": Problem(**MIXED, **TWO_STATES),
    "coupled, missing": Problem(**MISSING, **TWO_STATES),
    "coupled, three factors": Problem(**THREE_FACTORS, **TWO_STATES),
    "coupled, probit": Problem(**ONE_FACTOR, **TWO_STATES),
    "coupled, tiny rates": Problem(**THREE_FACTORS, **TINY_RATES),
    "coupled, great decay": Problem(**DATA, **GREAT_DECAY),
    "coupled, idle state": Problem(**DATA, **THREE_STATES),
    "coupled, two idle states": Problem(**DATA, **FOUR_STATES, activity_prior=(0.4, 1.5)),
}


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_sampler(problem, **parameters):
    values = np.array(problem.values)
    parameters = {
        "weights": problem.weights,
        "noise_variance": "auto" if all(problem.probit) else 1.0 / np.array(problem.precisions),
        **parameters,
    }
    sampler = BinaryFactorEmission(
        len(problem.weights) - 1,
        output=["probit" if p else "normal" for p in problem.probit],
        activity_prior=problem.activity_prior,
        **{"amplitude_variance": problem.amplitude_variance, **parameters},
    ).make_sampler(values, problem.n_states)
    sampler.attach(values)
    return sampler


def make_coupling(problem):
    if problem.decay is None:
        return None
    return Coupling(problem.decay, np.array(problem.counts), np.array(problem.log_rates))
