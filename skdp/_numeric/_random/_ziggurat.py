r"""Normal and exponential draws without logarithms, except once in a hundred draws.

The area below a falling density f is covered by 256 layers of equal area (Marsaglia and Tsang
2000): the lowest is a box of width `edges[1]` with the tail beyond it, and all others are boxes. A
layer is chosen by eight random bits, and a point in it by 53 others (Doornik 2005), so that the
draws are as fine as uniform draws. Most points lie to the left of the end of the layer above, and
so below f.

| name | symbol | shape | meaning |
|---|---|---|---|
| edges | x_i | (257,) | right ends of the layers, falling; x_0 as if the lowest were a box |
| heights | f(x_i) | (257,) | |
| rng | | (4,) uint64 | stream, advanced in place |
"""

import math

import numpy as np

from skdp._numeric._numba import njit_forceinline, njit_internal
from skdp._numeric._random._xoshiro import next_double, next_open_double, next_uint64

N_LAYERS = 256
_LOW_BITS = np.uint64(N_LAYERS - 1)
_R11 = np.uint64(11)
_UNIT = 2.0**-53

# The beginnings of the tails, for which layers with the area of the lowest end at f(0) = 1.
NORMAL_TAIL = 3.6541528853610088
EXPONENTIAL_TAIL = 7.69711747013104972


def layers(tail, area, density, inverse):
    """Return the edges and heights of layers of equal area."""
    edges = np.zeros(N_LAYERS + 1)
    edges[0], edges[1] = area / density(tail), tail
    for i in range(1, N_LAYERS - 1):
        edges[i + 1] = inverse(area / edges[i] + density(edges[i]))
    return edges, np.array([density(x) for x in edges])


NORMAL_EDGES, NORMAL_HEIGHTS = layers(
    NORMAL_TAIL,
    NORMAL_TAIL * math.exp(-0.5 * NORMAL_TAIL**2)
    + math.sqrt(0.5 * math.pi) * math.erfc(NORMAL_TAIL / math.sqrt(2.0)),
    lambda x: math.exp(-0.5 * x * x),
    lambda f: math.sqrt(-2.0 * math.log(f)),
)
EXPONENTIAL_EDGES, EXPONENTIAL_HEIGHTS = layers(
    EXPONENTIAL_TAIL,
    (EXPONENTIAL_TAIL + 1.0) * math.exp(-EXPONENTIAL_TAIL),
    lambda x: math.exp(-x),
    lambda f: -math.log(f),
)


@njit_internal
def _draw_normal_beyond(tail, rng):
    """Return a standard normal draw, conditioned to be larger than `tail` (Marsaglia 1964)."""
    while True:
        x = -math.log(next_open_double(rng)) / tail
        if -2.0 * math.log(next_open_double(rng)) > x * x:
            return tail + x


@njit_forceinline
def draw_normal(rng):
    """Return a standard normal draw."""
    while True:
        bits = next_uint64(rng)
        i = int(bits & _LOW_BITS)
        u = 2.0 * (float(bits >> _R11) * _UNIT) - 1.0  # has the sign of the draw
        x = u * NORMAL_EDGES[i]
        if abs(x) < NORMAL_EDGES[i + 1]:
            return x
        if i == 0:
            beyond = _draw_normal_beyond(NORMAL_TAIL, rng)
            return beyond if u > 0.0 else -beyond
        low, high = NORMAL_HEIGHTS[i], NORMAL_HEIGHTS[i + 1]
        if low + next_double(rng) * (high - low) < math.exp(-0.5 * x * x):
            return x


@njit_forceinline
def draw_exponential(rng):
    """Return a draw from the exponential distribution of mean 1."""
    beyond = 0.0
    while True:
        bits = next_uint64(rng)
        i = int(bits & _LOW_BITS)
        x = (float(bits >> _R11) + 0.5) * _UNIT * EXPONENTIAL_EDGES[i]
        if x < EXPONENTIAL_EDGES[i + 1]:
            return beyond + x
        if i == 0:  # the tail has the shape of the whole density
            beyond += EXPONENTIAL_TAIL
            continue
        low, high = EXPONENTIAL_HEIGHTS[i], EXPONENTIAL_HEIGHTS[i + 1]
        if low + next_double(rng) * (high - low) < math.exp(-x):
            return beyond + x
