"""What a customer weighs to the three samplers: BTIGS, CMGS and SSA.

Symbols as in ``_kernels.py``. A topic with `n` customers and `t` tables in a segment has a weight
of sharing one of its tables, and one of opening another, but for what depends on other topics:

    BTIGS   g U[n][t]     V[n][t] (t + 1) / (n + 1)    see ``_kernels_btigs.py``
    CMGS    U[n][t]       1 if t = n, else 0           see ``_kernels_dense.py``
    SSA     n - a t       1
"""

# mypy: ignore-errors

from skdp._numba import njit_section
from skdp.processes._kernels_stirling import share_ratio
from skdp.topics._tables._kernels_btigs import look_up_weights

BTIGS, CMGS, SSA = 0, 1, 2


@njit_section
def weigh_node(sampler, n, t, weights, a):
    """Return the weights of sharing and of opening for a topic with `n` customers, `t` tables."""
    if sampler == BTIGS:
        share, opening = look_up_weights(n, t, weights.values, weights.row_ptr, a)
    elif sampler == CMGS:
        share = share_ratio(weights.values, weights.row_ptr, n, t, a)
        opening = 1.0 if t == n else 0.0
    else:
        share, opening = n - a * t, 1.0
    return share, opening
