"""Examples in docstrings share the compiled kernels of the tests (tests/conftest.py)."""

from pathlib import Path

import kernel_cache

kernel_cache.use(Path(__file__).parent / ".pytest_cache")
