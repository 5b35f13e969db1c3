"""Conversion of draws to the data container of ArviZ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray


def make_inference_data(
    caller: str,
    groups: Mapping[str, Mapping[str, NDArray[Any]]],
    sweeps: NDArray[Any],
    dims: Mapping[str, list[str]] | None = None,
) -> Any:
    """Return groups of draws, (n_chains, n_draws, ...), as ArviZ stores them.
    `caller` is the method that an ImportError names, `dims` the names of axes after the first two.
    """
    try:
        import arviz
    except ImportError as error:
        raise ImportError(
            f"{caller} needs arviz: install it with `pip install skdp[arviz]`."
        ) from error
    data: dict[str, Any] = {name: dict(group) for name, group in groups.items()}
    options: dict[str, Any] = {"coords": {"draw": sweeps}, "dims": dims}
    try:
        return arviz.from_dict(**data, **options)
    except TypeError:  # ArviZ 1.0 and later
        return arviz.from_dict(data, **options)
