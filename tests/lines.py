"""Budgets of lines: ``python tests/lines.py`` prints the counts, ``--write`` lowers the budgets.

``[tool.skdp.lines]`` in ``pyproject.toml`` has a budget of lines of code and one of docstrings for
each room, which is a folder of the package; their sums are bounded, too, so that one room gets more
only if another gives it. Comments and blank lines are free. ``files`` are those of the package,
``tests`` all lines of Python below ``tests``."""

import argparse
import ast
import io
import re
import tokenize
import tomllib
from pathlib import Path

STEP = 50
"""Budgets of lines are multiples of this, and are lowered if a room needs two steps less."""

CHAINS = {"_executors", "_fit", "callback", "inference"}
FREE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}


def count_lines(text: str) -> tuple[int, int]:
    """Return the lines of code and of docstrings of a program."""
    documents, code = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            documents |= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in FREE:
            code |= {*range(token.start[0], token.end[0] + 1)}
    return len(code - documents), len(documents)


def measure(root: Path) -> dict[str, list[int]]:
    """Return what each room has, the sums, and the numbers of files and of lines of tests."""
    rooms: dict[str, list[int]] = {}
    files = sorted((root / "skdp").rglob("*.py"))
    for file in files:
        folder = file.relative_to(root).parts[1]
        room = "chains" if folder in CHAINS else folder.lstrip("_")
        is_small = folder.endswith(".py") or folder in ("_checks", "utils")
        counts = rooms.setdefault("rest" if is_small else room, [0, 0])
        for i, n in enumerate(count_lines(file.read_text(encoding="utf-8"))):
            counts[i] += n
    tests = sum(
        file.read_text(encoding="utf-8").count("\n") for file in (root / "tests").rglob("*.py")
    )
    sums = [sum(counts) for counts in zip(*rooms.values(), strict=True)]
    return {**dict(sorted(rooms.items())), "all": sums, "files": [len(files)], "tests": [tests]}


def read_budgets(root: Path) -> dict[str, list[int]]:
    """Return the budgets."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return settings["tool"]["skdp"]["lines"]


def find_faults(found: dict[str, list[int]], budgets: dict[str, list[int]]) -> list[str]:
    """Say what is above its budget, what could have a lower one, and if rooms get too much."""
    faults = [f"{room} is in only one of package and budgets" for room in {*found} ^ {*budgets}]
    for room in [room for room in found if room in budgets]:
        for n, budget in zip(found[room], budgets[room], strict=True):
            if n > budget:
                faults.append(f"{room} has {n}, but a budget of {budget}: make it smaller")
            elif room != "all" and n <= budget - 2 * STEP:
                faults.append(f"{room} has only {n} of {budget}: python tests/lines.py --write")
    rooms = [counts for room, counts in budgets.items() if len(counts) == 2 and room != "all"]
    for total, granted in zip(budgets["all"], map(sum, zip(*rooms, strict=True)), strict=True):
        if granted > total:
            faults.append(f"all rooms together get {granted}, more than {total}")
    return faults


def lower(found: dict[str, list[int]], budgets: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return budgets that are as low as what was found allows, and none is higher than before."""
    lowest = {
        room: counts if room == "files" else [-(-n // STEP) * STEP for n in counts]
        for room, counts in found.items()
        if room != "all"
    }
    pairs = [counts for counts in lowest.values() if len(counts) == 2]
    lowest["all"] = [sum(counts) for counts in zip(*pairs, strict=True)]
    return {
        room: [min(pair) for pair in zip(counts, budgets.get(room, counts), strict=True)]
        for room, counts in lowest.items()
    }


def main() -> None:
    """Print the table, and write lower budgets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="lower budgets to what there is")
    options = parser.parse_args()
    root = Path(__file__).parents[1]
    found, budgets = measure(root), read_budgets(root)
    for room, counts in found.items():
        print(f"{room:20} {counts} of {budgets.get(room)}")
    if options.write:
        path = root / "pyproject.toml"
        table = "".join(f"{room} = {counts}\n" for room, counts in lower(found, budgets).items())
        head = "[tool.skdp.lines] # code and docstrings by room: see tests/lines.py\n"
        text = re.sub(
            r"(?ms)^\[tool\.skdp\.lines\].*?(?=^\[|\Z)",
            lambda _: head + table + "\n",
            path.read_text(encoding="utf-8"),
        )
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
