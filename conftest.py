"""Tests and examples in docstrings share the compiled kernels of one state of the sources."""

from pathlib import Path

import kernel_cache

kernel_cache.use(Path(__file__).parent / ".pytest_cache")
