"""The hook of the build that puts compiled kernels into a wheel, for which it is then named.

``SKDP_KERNELS`` names their folder (``doc/developers/releasing.rst``); without it, wheels are pure.
"""

import os
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):
    """The hook, which hatchling calls for each wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the kernels and the tag of Python and Linux on x86-64, as numba's wheels have it."""
        folder = os.environ.get("SKDP_KERNELS")
        if folder and version == "standard":
            python = f"cp{sys.version_info.major}{sys.version_info.minor}"
            build_data["force_include"][os.path.abspath(folder)] = "skdp/_kernels"
            build_data["pure_python"] = False
            build_data["tag"] = f"{python}-{python}-manylinux_2_28_x86_64"
