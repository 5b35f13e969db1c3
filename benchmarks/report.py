"""What every benchmark prints: where and with what it ran, and its table."""

import platform
import sys
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version

import numpy as np


def print_header(*packages: str) -> None:
    """Print date, machine and versions."""
    cpu = "unknown processor"
    try:
        with open("/proc/cpuinfo") as lines:
            cpu = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except OSError:
        cpu = platform.processor() or cpu
    names = ("skdp", "numpy", "scipy", "scikit-learn", "numba", *packages)
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"{date.today()}, Python {platform.python_version()}, {cpu}\n{versions}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def mean_and_error(values):
    """Return a mean with its standard error, as text."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3f}" + ("" if np.isnan(error) else f" ± {error:.3f}")


def report_done(row):
    """Say on the way, not in the table, what is there already."""
    print("done:", *row, file=sys.stderr, flush=True)
