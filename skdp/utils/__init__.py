"""Tools for building on skdp."""

from skdp.utils._compile_kernels import compile_kernels

__all__ = ["compile_kernels"]
