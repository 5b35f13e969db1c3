"""Explicit random streams for kernels, and draws from them.

A stream is a ``uint64[4]`` array, the state of a xoshiro256++ generator. It is the last argument
of every kernel that draws, and the kernel advances it in place.
"""

from skdp._numeric._random._draws import (
    draw_bernoulli,
    draw_beta,
    draw_binomial,
    draw_categorical,
    draw_dirichlet,
    draw_gamma,
    draw_log_beta,
    draw_log_gamma,
    draw_log_small_gamma,
    draw_poisson,
    gamma_constants,
    shuffle,
)
from skdp._numeric._random._generator import make_generator
from skdp._numeric._random._halves import find_second_halves
from skdp._numeric._random._slice import draw_slice, make_draw_slice
from skdp._numeric._random._streams import (
    Role,
    derive_seed,
    derive_stream,
    draw_key,
    make_seed_sequence,
    make_stream,
    stream_of_content,
    stream_of_number,
)
from skdp._numeric._random._xoshiro import next_double, next_open_double, next_uint64
from skdp._numeric._random._ziggurat import draw_exponential, draw_normal

__all__ = [
    "Role",
    "derive_seed",
    "derive_stream",
    "draw_bernoulli",
    "draw_beta",
    "draw_binomial",
    "draw_categorical",
    "draw_dirichlet",
    "draw_exponential",
    "draw_gamma",
    "draw_key",
    "draw_log_beta",
    "draw_log_gamma",
    "draw_log_small_gamma",
    "draw_normal",
    "draw_poisson",
    "draw_slice",
    "find_second_halves",
    "gamma_constants",
    "make_draw_slice",
    "make_generator",
    "make_seed_sequence",
    "make_stream",
    "next_double",
    "next_open_double",
    "next_uint64",
    "shuffle",
    "stream_of_content",
    "stream_of_number",
]
