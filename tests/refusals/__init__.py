"""Mistakes of users and the messages that they get, as tables.

Each text has a table of calls, each followed by what a ValueError says: after an arrow, or in the
next line after four spaces. Other errors, and warnings, have their name before it. Three dots in a
message stand for any text; a message after "~" is a regular expression. "fine" is for what looks
like a mistake and is allowed. A call that is too long for a line goes on in lines that begin with
eight spaces. ``f($) for $ in 1 | "a"`` stands for two calls, and ``$`` in their message for the
value. A table knows all public names, those of ``samples``, and those of the module with its
name."""

import ast
import builtins
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import sklearn.exceptions

from refusals import samples
from skdp import (
    callback,
    context,
    data,
    datasets,
    emissions,
    feature_extraction,
    grammar,
    inspection,
    language,
    metrics,
    mixture,
    preprocessing,
    processes,
    sequence,
    topics,
)

PACKAGES = [
    *(callback, context, data, datasets, emissions, feature_extraction, grammar, inspection),
    *(language, metrics, mixture, preprocessing, processes, sequence, topics),
]
PUBLIC = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}


class Row(NamedTuple):
    """A call and what comes of it: "fine", or the name of an error and a pattern of its message."""

    call: str
    error: str
    pattern: str = ""


TABLES = {path.stem: path for path in sorted(Path(__file__).parent.glob("*.txt"))}

RESULT = re.compile(r"(?:^    | -> )(?:(fine|\w+(?:Error|Warning))(?:: |(?= ~)|$))? ?(~ )?(.*)$")


def parse(table: str) -> list[Row]:
    """Return the rows of a table."""
    rows, call = [], ""
    for line in table.splitlines():
        if line.startswith("        "):
            line = f"{call} {line.strip()}"
        if not (found := RESULT.search(line)):
            call = "" if line.startswith("#") else line
            continue
        name, is_pattern, message = found.groups()
        call, _, values = (line[: found.start()] or call).partition(" for $ in ")
        for value in values.split(" | "):
            literal = message.replace("$", value).split("...")
            pattern = message if is_pattern else ".*".join(map(re.escape, literal))
            rows.append(Row(call.replace("$", value), name or "ValueError", pattern))
    return rows


def check(row: Row, room: str) -> None:
    """Check what comes of a call, and that a fit that is refused leaves its estimator as it was."""
    names = {**PUBLIC, **vars(samples), **vars(import_module(f"refusals.{room}"))}
    call = ast.parse(row.call, mode="eval").body
    receiver = getattr(getattr(call, "func", None), "value", None)
    is_fit = getattr(getattr(call, "func", None), "attr", "").startswith(
        ("fit", "iter_sweeps", "partial_fit")
    )
    if is_fit and receiver is not None:
        names["model"] = eval(ast.unparse(receiver), names)
        call.func.value = ast.Name("model")
    model = names.get("model") if is_fit else None
    text, before = ast.unparse(call), _attributes(model)
    if row.error == "fine":
        eval(text, names)
        return
    error = getattr(builtins, row.error, None) or getattr(sklearn.exceptions, row.error)
    if issubclass(error, Warning):
        with pytest.warns(error, match=f"(?s){row.pattern}"):
            eval(text, names)
        return
    with pytest.raises(error) as raised:
        eval(text, names)
    assert type(raised.value).__module__ != "numpy"  # errors of numpy name nothing
    assert re.search(row.pattern, str(raised.value), re.DOTALL), str(raised.value)
    assert _attributes(model) == before


def _attributes(model: object) -> dict | None:
    is_ours = type(model).__module__.startswith("skdp.")
    return dict(vars(model)) if is_ours else None
