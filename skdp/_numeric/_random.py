"""Random streams, and draws from standard distributions for kernels with an explicit stream.

| name | shape | meaning |
|---|---|---|
| rng | (4,) uint64 | state of a stream, not all zero, advanced in place |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import (
    as_readonly,
    njit,
    njit_forceinline,
    njit_inlined,
    njit_internal,
    njit_internal_nogc,
    njit_loop,
    njit_outlined,
)

# The generator xoshiro256++ (Blackman and Vigna, 2021), one step at a time.


_R17, _R23, _R41, _R45, _R19 = (np.uint64(shift) for shift in (17, 23, 41, 45, 19))
_R11, _R12 = np.uint64(11), np.uint64(12)
_UNIT = 1.0 / 9007199254740992.0  # 2**-53


@njit
def next_uint64(rng):
    """Return the next 64 random bits of the stream `rng`."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    x = s0 + s3
    result = ((x << _R23) | (x >> _R41)) + s0
    t = s1 << _R17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << _R45) | (s3 >> _R19)
    rng[0], rng[1], rng[2], rng[3] = s0, s1, s2, s3
    return result


@njit
def next_double(rng):
    """Return a uniform draw from [0, 1), a multiple of 2**-53."""
    return float(next_uint64(rng) >> _R11) * _UNIT


@njit
def next_open_double(rng):
    """Return a uniform draw from (0, 1), an odd multiple of 2**-53, whose logarithm is finite."""
    return (float(next_uint64(rng) >> _R12) + 0.5) * (2.0 * _UNIT)


# Normal and exponential draws without logarithms, except once in a hundred draws.
#
# The area below a falling density f is covered by 256 layers of equal area (Marsaglia and Tsang
# 2000): the lowest is a box of width `edges[1]` with the tail beyond it, and all others are boxes.
# A layer is chosen by eight random bits, and a point in it by 53 others (Doornik 2005), so that the
# draws are as fine as uniform draws. Most points lie to the left of the end of the layer above, and
# so below f.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | edges | x_i | (257,) | right ends of the layers, falling; x_0 as if the lowest were a box |
# | heights | f(x_i) | (257,) | |


N_LAYERS = 256
_LOW_BITS = np.uint64(N_LAYERS - 1)

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


# Draws from other standard distributions.
#
# Gamma, beta and Dirichlet draws with small shapes are computed as logarithms: on a linear scale a
# Gamma(1e-3) variate underflows to 0 in every second draw, and a weight that became 0 stays 0.
#
# | name | shape | meaning |
# |---|---|---|
# | shape, alpha, beta | scalar or (K,) | shape parameters, > 0; 0 means the limit |
# | weights, total | (K,), scalar | unnormalized probabilities and their sum |


@njit
def draw_bernoulli(probability, rng):
    """Return True with the given probability."""
    return next_double(rng) < probability


@njit
def draw_categorical(weights, total, rng):
    """Return i with probability weights[i] / total; its weight is never 0."""
    rest = next_double(rng) * total
    last = -1
    for i in range(weights.shape[0]):
        if weights[i] > 0.0:
            last = i
            rest -= weights[i]
            if rest < 0.0:
                break
    return last  # the last possible category if rounding left a rest


@njit_inlined
def gamma_constants(shape):
    """Return d and c of Marsaglia and Tsang (2000) for a shape >= 1."""
    d = shape - 1.0 / 3.0
    return d, 1.0 / math.sqrt(9.0 * d)


@njit_inlined
def _draw_gamma_above_one(d, c, rng):
    """Return a Gamma(shape, 1) draw, shape >= 1 (Marsaglia and Tsang, 2000)."""
    while True:
        x = draw_normal(rng)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = next_open_double(rng)
        # The first test is a squeeze that avoids the logarithms 49 times in 50.
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return d * v
        if math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@njit_inlined
def draw_log_small_gamma(d, c, reciprocal, rng):
    """Return the log of a Gamma(shape, 1) draw, shape < 1: Gamma(shape + 1) U^(1 / shape).
    For many draws: d and c are ``gamma_constants(shape + 1)``, `reciprocal` is 1 / shape.
    """
    return math.log(_draw_gamma_above_one(d, c, rng)) - reciprocal * draw_exponential(rng)


@njit_outlined
def draw_log_gamma(shape, rng):
    """Return the logarithm of a Gamma(shape, 1) draw; -inf for shape 0."""
    if shape >= 1.0:
        d, c = gamma_constants(shape)
        return math.log(_draw_gamma_above_one(d, c, rng))
    if shape <= 0.0:
        return -math.inf
    d, c = gamma_constants(shape + 1.0)
    return draw_log_small_gamma(d, c, 1.0 / shape, rng)


@njit_outlined
def draw_gamma(shape, rng):
    """Return a Gamma(shape, 1) draw; it may underflow to 0 for a tiny shape."""
    if shape >= 1.0:
        d, c = gamma_constants(shape)
        return _draw_gamma_above_one(d, c, rng)
    return math.exp(draw_log_gamma(shape, rng))


@njit_outlined
def draw_log_beta(alpha, beta, rng):
    """Return log x and log(1 - x) of a Beta(alpha, beta) draw x, both to full precision."""
    log_x, log_y = draw_log_gamma(alpha, rng), draw_log_gamma(beta, rng)
    if log_x == -math.inf and log_y == -math.inf:
        if draw_bernoulli(alpha / (alpha + beta), rng):
            return 0.0, -math.inf
        return -math.inf, 0.0
    log_odds = log_x - log_y
    tail = math.log1p(math.exp(-abs(log_odds)))
    return min(log_odds, 0.0) - tail, min(-log_odds, 0.0) - tail


@njit_outlined
def draw_beta(alpha, beta, rng):
    """Return a Beta(alpha, beta) draw; it may round to 0 or 1 for tiny shapes."""
    return math.exp(draw_log_beta(alpha, beta, rng)[0])


@njit_outlined
def draw_binomial(n, probability, rng):
    """Return the number of n events of the given probability that happen."""
    # A large n is cut in two (Relles, 1972): x, the i-th smallest of n uniform draws, is
    # Beta(i, n + 1 - i), and determines on which side of the probability i draws at once are.
    successes = 0
    while n > 16:
        i = n // 2 + 1
        x = draw_beta(float(i), float(n + 1 - i), rng)
        if x <= probability:
            successes += i
            n -= i
            probability = (probability - x) / (1.0 - x)
        else:
            n = i - 1
            probability /= x
    for _ in range(n):
        successes += next_double(rng) < probability
    return successes


@njit_outlined
def draw_poisson(mean, rng):
    """Return a Poisson draw of finite mean >= 0."""
    # Ahrens and Dieter (1974): the m-th event of a process of rate 1 is at time x ~ Gamma(m). If
    # that is before `mean`, count on from there; else the first m - 1 are uniform on (0, x).
    events = 0
    while mean > 16.0:
        m = int(0.875 * mean)
        x = draw_gamma(float(m), rng)
        if x > mean:
            return events + draw_binomial(m - 1, mean / x, rng)
        events += m
        mean -= x
    time = draw_exponential(rng)
    while time < mean:
        events += 1
        time += draw_exponential(rng)
    return events


@njit_loop
def shuffle(order, rng):
    """Put numbers in a random order."""
    for i in range(order.shape[0] - 1, 0, -1):
        j = int(next_double(rng) * (i + 1))
        order[i], order[j] = order[j], order[i]


# Random number generators for user-defined parts of a chain.


def make_generator(rng: NDArray[np.uint64]) -> np.random.Generator:
    """Return a numpy Generator that continues the stream of a chain.

    A part of a chain must draw from this stream only. Then equal seeds give equal fits, and an
    interrupted fit continues as if it had not been interrupted.

    Parameters
    ----------
    rng : (4,) array of uint64
        The stream that is passed to `draw` and `start`. It advances, so the next Generator is
        different.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.default_rng([int(next_uint64(rng)), int(next_uint64(rng))])


# Creation of streams: seeds by role, and streams keyed by a sample's content.


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_R30, _R27, _R31 = np.uint64(30), np.uint64(27), np.uint64(31)


class Role(IntEnum):
    """The purpose of a stream; two roles never share a stream."""

    INIT = 0
    SWEEP = 1
    TRANSFORM = 2
    SHARD = 3
    LIKELIHOOD = 4
    HALVES = 5
    PILOT = 6


def make_seed_sequence(
    random_state: int | np.integer | np.random.RandomState | np.random.Generator | None,
) -> np.random.SeedSequence:
    """Convert any form of `random_state` to the root of all streams of a fit.
    A RandomState or Generator is advanced by one draw, so that two fits with it differ.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=4, dtype=np.uint32)
        return np.random.SeedSequence([int(word) for word in words])
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=4, dtype=np.uint32)
        return np.random.SeedSequence([int(word) for word in words])
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, got {random_state}.")
        return np.random.SeedSequence(int(random_state))
    raise ValueError(
        "random_state must be None, an int, a numpy RandomState or a numpy Generator, "
        f"got {random_state!r}."
    )


def make_stream(seed_sequence: np.random.SeedSequence) -> NDArray[np.uint64]:
    """Return the state (4,) of a new stream seeded by `seed_sequence`."""
    return np.asarray(seed_sequence.generate_state(4, np.uint64), dtype=np.uint64)


def derive_seed(root: np.random.SeedSequence, role: Role, *keys: int) -> np.random.SeedSequence:
    """Return the seed of `role` (and of further `keys`) below `root`."""
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, int(role), *keys))


def derive_stream(root: np.random.SeedSequence, role: Role, *keys: int) -> NDArray[np.uint64]:
    """Return the stream of `role` (and chain, shard, ... in `keys`) below `root`."""
    # Unlike SeedSequence.spawn this does not count calls, as a resumed fit requires.
    return make_stream(derive_seed(root, role, *keys))


@njit_internal
def _mix(x):
    """Scramble 64 bits (the output function of splitmix64)."""
    x = (x ^ (x >> _R30)) * _MIX1
    x = (x ^ (x >> _R27)) * _MIX2
    return x ^ (x >> _R31)


@njit
def stream_of_content(key, tokens, lengths, rng):
    """Write to `rng` the stream of a sample, which depends only on `key` and the content.
    The content is its `tokens` and the `lengths` of its parts (one if it has no parts).
    """
    h = key[0]
    for i in range(lengths.shape[0]):
        h = _mix((h ^ np.uint64(lengths[i])) + _GOLDEN)
    for i in range(tokens.shape[0]):
        h = _mix((h ^ np.uint64(tokens[i])) + _GOLDEN)
    _spread(h, key, rng)


@njit_internal
def stream_of_segments(key, tokens, ptr, rng):
    """Write to `rng` what `stream_of_content` does for parts that begin and end at `ptr`."""
    # numba would need three seconds to compile np.diff.
    h = key[0]
    for i in range(ptr.shape[0] - 1):
        h = _mix((h ^ np.uint64(ptr[i + 1] - ptr[i])) + _GOLDEN)
    for i in range(tokens.shape[0]):
        h = _mix((h ^ np.uint64(tokens[i])) + _GOLDEN)
    _spread(h, key, rng)


@njit
def draw_key(rng, key):
    """Draw the (4,) `key` for streams of `stream_of_number`."""
    for i in range(4):
        key[i] = next_uint64(rng)


@njit_outlined
def stream_of_number(key, number, rng):
    """Write to `rng` the stream of a sample, which depends only on `key` and its number."""
    _spread(_mix((key[0] ^ np.uint64(number)) + _GOLDEN), key, rng)


@njit_internal
def _spread(h, key, rng):
    """Write the stream that is determined by 64 bits and a key."""
    for i in range(4):
        h += _GOLDEN
        rng[i] = _mix(h ^ key[i])
    rng[0] |= np.uint64(1)  # avoid the all-zero state, which xoshiro cannot leave


# Random halves of groups, which are the same for the same content.
#
# | name | shape | meaning |
# |---|---|---|
# | key | (4,) uint64 | key of all groups; a group's stream depends on it and its content |
# | ptr | (J + 1,) | offsets of the items of each group |
# | contents | (N width,) | the items, `width` integers each, in a fixed order within a group |
# | is_second | (N,) | whether an item is in the second half |


@njit_loop
def draw_second_halves(key, ptr, contents, width, lengths, is_second, rng):
    """Draw floor(n / 2) items of every group of n; all sets have the same probability.
    `lengths`, (1,) int64, and `rng` are scratch.
    """
    for j in range(ptr.shape[0] - 1):
        begin, end = ptr[j], ptr[j + 1]
        lengths[0] = end - begin
        stream_of_content(key, contents[begin * width : end * width], lengths, rng)
        n_missing = (end - begin) // 2
        for i in range(begin, end):
            is_second[i] = next_double(rng) * (end - i) < n_missing
            n_missing -= is_second[i]


def find_second_halves(ptr: NDArray[np.int64], contents: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the items in the second half of their group: floor(n / 2) of n items.
    The halves depend only on the group's content: they are the same in two models, fits or calls.
    """
    key = derive_stream(np.random.SeedSequence(0), Role.HALVES)
    width = contents.shape[1] if contents.ndim == 2 else 1
    is_second = np.empty(len(contents), dtype=np.bool_)
    lengths, rng = np.empty(1, dtype=np.int64), np.empty(4, dtype=np.uint64)
    draw_second_halves(
        key, as_readonly(ptr), as_readonly(contents.ravel()), width, lengths, is_second, rng
    )
    return is_second


# Draws from the Polya-Gamma distribution.
#
# PG(1, z) is the distribution of J(1, z / 2) / 4, where J(1, c) has the density
#
#     cosh(c) exp(-c^2 x / 2) f(x),   f(x) = sum_n (-1)^n a_n(x),
#
# and f is the density of J(1, 0) (Devroye 2009; Polson, Scott and Windle 2013). For x <= `CUT`,
# a_n(x) = pi (n + 1/2) (2 / (pi x))^(3/2) exp(-2 (n + 1/2)^2 / x); beyond it, a_n(x) = pi (n + 1/2)
# exp(-(n + 1/2)^2 pi^2 x / 2). In both ranges a_n falls with n, so that the partial sums
# alternately bound f from above and below. A proposal from the density that is proportional to
# exp(-c^2 x / 2) a_0(x), an inverse Gaussian below `CUT` and an exponential beyond it, is accepted
# with probability f(x) / a_0(x): the draws are exact.
#
# Moments: E[omega] = tanh(z / 2) / (2 z), and E[exp(-t omega)] = cosh(z / 2) / cosh(sqrt(z^2 / 4 +
# t / 2)).


CUT = 0.64
"""The point between both expansions of the density; its choice affects only the speed."""

LARGE = 30.0
"""Values of c from which the part beyond `CUT` has a probability below 1e-100."""

LARGEST = 1e100
"""Values of |z| beyond which draws equal 1 / (2 |z|) to all digits.

The mean tends to 1 / (2 |z|) and the variance to 1 / (2 |z|^3): the relative standard
deviation is sqrt(2 / |z|). Squares of much larger values overflow.
"""

ROOT_HALF = math.sqrt(0.5)


@njit_internal_nogc
def find_tail_share(c):
    """Return the share of the proposals beyond `CUT`."""
    if c > LARGE:
        return 0.0
    rate = 0.125 * math.pi**2 + 0.5 * c * c
    tail = 0.5 * math.pi / rate * math.exp(-rate * CUT)
    root = math.sqrt(1.0 / CUT)
    # Twice the probability of an inverse Gaussian of mean 1 / c below the cut, times exp(-c).
    head = math.exp(-c) * math.erfc(-root * (CUT * c - 1.0) * ROOT_HALF)
    head += math.exp(c) * math.erfc(root * (CUT * c + 1.0) * ROOT_HALF)
    return tail / (tail + head)


@njit_internal_nogc
def draw_short_time(c, rng):
    """Return an inverse Gaussian draw < `CUT` of mean 1 / c and shape 1; Lévy's law if c is 0."""
    if c * CUT < 1.0:
        while True:
            first = draw_exponential(rng)
            while first * first > 2.0 * draw_exponential(rng) / CUT:
                first = draw_exponential(rng)
            x = CUT / ((1.0 + CUT * first) * (1.0 + CUT * first))
            if next_double(rng) < math.exp(-0.5 * c * c * x):
                return x
    while True:
        normal = draw_normal(rng)
        # The smaller root of Michael, Schucany and Haas (1976), without cancellation.
        away = 0.5 * normal * normal / c
        x = 1.0 / (c * (1.0 + away + math.sqrt(away * (2.0 + away))))
        if next_double(rng) * (1.0 + c * x) > 1.0:
            x = 1.0 / (c * c * x)
        if x < CUT:
            return x


@njit_internal_nogc
def find_coefficient(n, x):
    """Return a_n(x)."""
    k = n + 0.5
    if x > CUT:
        return math.pi * k * math.exp(-0.5 * k * k * math.pi**2 * x)
    return math.pi * k * (2.0 / (math.pi * x)) ** 1.5 * math.exp(-2.0 * k * k / x)


@njit
def draw_polya_gamma(z, rng):
    """Return a PG(1, z) draw, for any finite z."""
    if abs(z) > LARGEST:
        return 0.5 / abs(z)
    c = 0.5 * abs(z)
    share = find_tail_share(c)
    while True:
        if next_double(rng) < share:
            x = CUT + draw_exponential(rng) / (0.125 * math.pi**2 + 0.5 * c * c)
        else:
            x = draw_short_time(c, rng)
        total = find_coefficient(0, x)
        bound = next_double(rng) * total
        n = 0
        while True:
            n += 1
            total -= find_coefficient(n, x)
            if bound <= total:
                return 0.25 * x
            n += 1
            total += find_coefficient(n, x)
            if bound > total:
                break


# Slice sampling of a real number.


def draw_slice(
    log_density: Callable[[float], float],
    x: float,
    rng: NDArray[np.uint64],
    width: float = 2.0,
    max_steps: int = 100,
) -> float:
    """Return the next x of a chain that leaves a density invariant (Neal, 2003).
    An interval of length `width` is stepped out, up to `max_steps` times that, and shrunk toward x.
    """
    return float(make_draw_slice(log_density)(x, width, max_steps, rng))


def make_draw_slice(log_density: Callable[..., float]) -> Callable[..., float]:
    """Return `draw_slice` of a log density, for `njit` if the log density is a kernel.
    Its last arguments, after the stream, are those of the log density after x.
    """

    def draw(
        x: float, width: float, max_steps: int, rng: NDArray[np.uint64], *arguments: Any
    ) -> float:
        level = log_density(x, *arguments) + math.log(next_open_double(rng))
        low = x - width * next_double(rng)
        high = low + width
        steps_down = int(max_steps * next_double(rng))  # random, or the interval would depend on x
        for _ in range(steps_down):
            if not log_density(low, *arguments) > level:
                break
            low -= width
        for _ in range(max_steps - 1 - steps_down):
            if not log_density(high, *arguments) > level:
                break
            high += width
        while True:
            proposal = low + (high - low) * next_double(rng)
            if log_density(proposal, *arguments) > level or proposal == x:
                return proposal
            if proposal < x:
                low = proposal
            else:
                high = proposal

    return draw
