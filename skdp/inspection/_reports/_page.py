"""HTML pages that hold their styles, scripts and data, and load nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import skdp
from skdp._numeric import Places
from skdp._result_line import describe_result
from skdp.data._ragged import check_path, replace_file
from skdp.inspection._axes import write_name

DIGITS = 9
"""Number of significant digits of numbers in a page."""


def check_target(path: Any) -> Path:
    """Return the path of a page, or raise before any work if it cannot be written there."""
    target = check_path(path, "path")
    if target.is_dir():
        raise IsADirectoryError(f"path must be a file, got the folder {str(target)!r}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: there is no folder {str(target.parent)!r}.")
    return target


def choose_evenly(n: int, most: int) -> Places:
    """Return up to `most` of n documents or sequences, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def count_shown(n_shown: int, n: int, noun: str) -> str:
    """Say how many of n documents or sequences a page shows."""
    if n_shown == n:
        return f"{n:,} {noun}{'' if n == 1 else 's'}."
    return f"A sample of {n_shown:,} of {n:,} {noun}s, evenly spaced."


def escape(text: Any) -> str:
    """Return a name as it is drawn, safe in HTML."""
    return html.escape(write_name(str(text)))


def number(value: Any) -> float | None:
    """Return a number for the data of a page: rounded, None if it is not finite."""
    value = float(value)
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def numbers(values: Any) -> list[float | None]:
    """Return an array as numbers for the data of a page."""
    return [number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def encode(data: Any) -> str:
    """Return data as JSON that cannot end its script element or begin another one."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":  # they occur only in strings, in which an escape is equivalent
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def write_page(
    path: Path,
    model: Any,
    title: str | None,
    *,
    body: str,
    notes: list[str],
    data: dict[str, Any],
    script: str,
) -> Path:
    """Write a page about a model, with `data` for a script and `notes` at its end."""
    name = type(model).__name__
    style, program = read_file("page.css"), read_file("page.js") + read_file(script)
    text = read_file("page.html").format(
        title=escape(name if title is None else title),
        summary=html.escape(f"{name}: {describe_result(model)}"),
        body=body,
        notes="\n".join(f"<p>{html.escape(note)}</p>" for note in notes),
        data=encode(data),
        style=style,
        script=program,
        style_hash=_hash(style),
        script_hash=_hash(program),
        version=html.escape(skdp.__version__),
    )
    with replace_file(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return path


@cache
def read_file(name: str) -> str:
    """Return a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the source of a content security policy that allows only this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
