"""Traces of fits: the scalars of every kept sweep of every chain."""

from skdp.inference._trace import Trace

__all__ = ["Trace"]
