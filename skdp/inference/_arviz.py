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

    Parameters
    ----------
    caller : str
        The method to name in an ImportError.
    groups : dict of dict of arrays
        For each group, such as "posterior", its variables by name.
    sweeps : (n_draws,) array of int
        Coordinates of the draws.
    dims : dict of list of str, optional
        Names of the axes of a variable after the first two.
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
