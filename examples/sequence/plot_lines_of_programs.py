"""
Which lines of a program are prose?
===================================

A program has code, and comments and docstrings in between. Can a model without any knowledge of
Python identify the lines that are prose, from a few counts per line? There are three kinds of
columns, and each kind has its own emission.
"""

# %%
# Modules of the standard library
# -------------------------------
#
# A sequence is a module of the standard library, and a step is a line that is not blank. We count
# its words and its characters, by kind, and record how it begins and ends. The true kind of a line,
# according to Python's `ast` and `tokenize`, is used only for the test.

import ast
import importlib
import inspect
import io
import re
import tokenize

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

MODULES = "bisect cmd contextlib copy csv fnmatch heapq queue reprlib sched shelve string textwrap"
CHARACTERS = {
    "lower": "[a-z]",
    "upper": "[A-Z]",
    "digit": "[0-9]",
    "space": "(?<=[^ ]) ",
    "sentence": "[.,;?!`-]",
    "operator": r"[]()\[{}=+*/%<>:&|@_]",
    "quote": "['\"]",
    "hash": "#",
}


def kinds_of_lines(source):
    """Return "code", "comment" or "docstring" for each line."""
    kinds = np.full(source.count("\n") + 1, "code", dtype="U9")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            kinds[node.body[0].lineno - 1 : node.body[0].end_lineno] = "docstring"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            kinds[token.start[0] - 1] = "comment"
    return kinds


records = []
for module in MODULES.split():
    source = inspect.getsource(importlib.import_module(module))
    for line, kind in zip(source.split("\n"), kinds_of_lines(source), strict=True):
        if text := line.strip():
            records.append({
                **{name: len(re.findall(chars, text)) for name, chars in CHARACTERS.items()},
                "words": len(text.split()),
                "is indented": line.startswith(" "),
                "begins with capital": text[0].isupper(),
                "ends in colon": text.endswith(":"),
                "module": module,
                "text": text,
                "kind": kind,
            })  # fmt: skip
lines = pd.DataFrame(records)
print(lines["kind"].value_counts())

# %%
# An emission for each kind of column
# -----------------------------------
#
# :class:`~skdp.emissions.MultinomialEmission` models the kinds of characters, given their number,
# :class:`~skdp.emissions.PoissonEmission` the number of words, and
# :class:`~skdp.emissions.BernoulliEmission` the binary columns.
# :class:`~skdp.emissions.IndependentEmissions` combines the parts, by the names of columns. We fit
# the model to each part alone, and to all of them. A state counts as prose if most of its lines are
# prose.

from skdp.data import SequencePanel
from skdp.emissions import (
    BernoulliEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.sequence import HDPHMMLT

parts = {
    "characters": (MultinomialEmission(), list(CHARACTERS)),
    "words": (PoissonEmission(), ["words"]),
    "flags": (BernoulliEmission(), ["is indented", "begins with capital", "ends in colon"]),
}
is_prose = lines["kind"] != "code"
right = {"no model: all is code": np.mean(~is_prose)}
for chosen in (["flags"], ["words"], ["characters"], list(parts)):
    emission = IndependentEmissions([(name, *parts[name]) for name in chosen])
    columns = [column for name in chosen for column in parts[name][1]]
    panel = SequencePanel.from_frame(lines[["module", *columns]], by="module")
    model = HDPHMMLT(25, emission=emission, stickiness="auto", max_iter=600, random_state=0)
    states = np.concatenate(model.fit(panel).predict(panel))
    found = is_prose.groupby(states).transform("mean") > 0.5
    right[", ".join(chosen)] = np.mean(found == is_prose)
for name, share in right.items():
    print(f"{name:26s} {100 * share:.0f} % of the lines are right")

# %%
# The states
# ----------
#
# The table lists the six largest states of the last model, with their number of lines, the share of
# prose, the mean number of words, and the line with the highest probability. There are several
# kinds of code, and of prose.

words = model.emission_.models["words"].intensities.ravel()
probabilities = np.concatenate(model.predict_proba(panel))
print("lines  prose  words  example")
for state in range(6):
    inside = states == state
    example = lines["text"].iloc[probabilities[:, state].argmax()]
    print(f"{inside.sum():5d} {is_prose[inside].mean():6.2f} {words[state]:6.1f}  {example[:60]}")

# %%
# Four modules
# ------------
#
# For each module, from the first line to the last, the upper bar shows the result of the model and
# the lower bar the truth. The largest apparent mistake, in `heapq`, is not one: its string
# ``__about__`` is an essay, which the parser classifies as code.

COLORS = {"code": "#56B4E9", "docstring": "#E69F00", "comment": "#D55E00", "prose": "#222222"}
shown = ["bisect", "heapq", "string", "textwrap"]
figure, (left, axes) = plt.subplots(
    1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=[1.0, 1.7]
)
left.plot([100 * share for share in right.values()], range(len(right)), "o", color="#0072B2")
left.set_yticks(range(len(right)), list(right))
left.set(xlabel="lines that are right, %", title="What tells prose from code?")
left.grid(axis="x", alpha=0.3)
left.invert_yaxis()
for place, module in enumerate(shown):
    is_here = (lines["module"] == module).to_numpy()
    guesses = np.where(found[is_here], "prose", "code")
    for row, kinds in ((0.0, guesses), (0.4, lines["kind"][is_here].to_numpy())):
        for kind, color in COLORS.items():
            bars = [(t, 1) for t in np.flatnonzero(kinds == kind)]
            axes.broken_barh(bars, (place + row, 0.35), color=color, linewidth=0)
for kind, color in COLORS.items():
    axes.bar(0, 0, color=color, label=kind if kind != "prose" else "prose (found)")
axes.set_yticks(np.arange(len(shown)) + 0.375, shown)
axes.set(xlabel="line", title="Found (above) and true (below)", ylim=(len(shown), -0.9))
axes.legend(loc="upper center", ncols=4, frameon=False)
figure.savefig("lines_of_programs.png", dpi=100)
