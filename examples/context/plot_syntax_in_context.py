"""
What stands where in Python code
================================

A classifier of categories in context predicts the kind of a syntax node from its surroundings in
the program. The programs are modules of Python's standard library.
"""

# %%
# Events
# ------
#
# The parser turns a program into a tree. Each of its nodes is an event: its kind, such as ``Call``,
# is the class, and its surroundings are the context. The columns are known before the node is: the
# type and field of the parent, the preceding sibling, the type and field of the grandparent, and
# the last name mentioned, such as ``self`` or ``len``. Every fifth statement of a module, with
# everything in it, is in the test set; many of these statements are whole classes or functions.

import ast
import inspect
from importlib import import_module

import numpy as np
import pandas as pd

MODULES = [
    *("argparse", "ast", "calendar", "cmd", "codecs", "configparser", "contextlib", "copy"),
    *("csv", "difflib", "dis", "fractions", "ftplib", "functools", "gzip", "heapq"),
    *("inspect", "ipaddress", "locale", "mailbox", "optparse", "pickle", "platform", "pprint"),
    *("random", "shelve", "shlex", "statistics", "string", "textwrap", "zipfile", "tarfile"),
]
COLUMNS = ["parent", "field", "before", "grandparent", "its field", "last name"]


def visit(node, above, name, events):
    """Add the nodes below a node to the events; return the last name mentioned."""
    before = "(none)"
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                here = type(node).__name__, field
                kind = type(child).__name__
                events.append((*here, before, *above, name, kind))
                name = visit(child, here, name, events)
                before = kind
    return getattr(node, "id", getattr(node, "attr", name))


def read_events(statements):
    """Return the contexts and kinds of all nodes within statements."""
    events = []
    for statement in statements:
        visit(statement, ("Module", "body"), "(none)", events)
    return pd.DataFrame([event[:-1] for event in events], columns=COLUMNS), np.array(
        [event[-1] for event in events]
    )


bodies = [ast.parse(inspect.getsource(import_module(name))).body for name in MODULES]
X_train, y_train = read_events([part for body in bodies for part in body if body.index(part) % 5])
X_test, y_test = read_events([part for body in bodies for part in body[::5]])
is_known = np.isin(y_test, y_train)  # other classifiers give new kinds no probability
X_test, y_test = X_test[is_known], y_test[is_known]
print(f"{len(X_train)} events to learn from, {len(X_test)} to predict, ", end="")
print(f"{len(np.unique(y_train))} kinds; {np.sum(~is_known)} of new kinds left out")
print(X_test[1000:1005].assign(kind=y_test[1000:1005]).to_string())

# %%
# Models
# ------
#
# Levels are groups of columns, with the most important first. With every level a context becomes
# narrower and rarer: there are few fields of parents, and many names. A linear model adds up the
# effects of single columns, and cannot represent that the preceding sibling has a different meaning
# in a call than in a loop.
#
# Collins's formula has a parameter, and its default suits these data. The Dirichlet process learns
# its parameters, and the Pitman-Yor process, the default, also has discounts and predicts better.
# The best order of the columns is not always clear. Classifiers with different orders make
# different errors, so the mean of their probabilities is slightly better still.

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdp.context import CollinsBackoffClassifier, HDPBackoffClassifier

near, far = ["parent", "field"], ["grandparent", "its field"]
orders = {
    "siblings, grandparents, names": [near, "before", far, "last name"],
    "grandparents, siblings, names": [near, far, "before", "last name"],
    "siblings, names, grandparents": [near, "before", "last name", far],
}
levels = orders["siblings, grandparents, names"]
chain = {"max_iter": 40, "random_state": 0}
models = {
    "without context": DummyClassifier(strategy="prior"),
    "logistic regression": make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=100, tol=1e-3)
    ),
    "Collins": CollinsBackoffClassifier(levels),
    "Dirichlet processes": HDPBackoffClassifier(levels, discount=0.0, **chain),
    "Pitman-Yor processes": HDPBackoffClassifier(levels, **chain),
    "mean over three orders": VotingClassifier(
        [(name, HDPBackoffClassifier(order, **chain)) for name, order in orders.items()],
        voting="soft",
    ),
}
losses = {}
for name, model in models.items():
    model.fit(X_train, y_train)
    losses[name] = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    print(f"{name:24} {losses[name]:.3f} nats, {model.score(X_test, y_test):.3f} correct")

# %%
# Where a prediction comes from
# -----------------------------
#
# `explain` returns the number of times that the contexts of a row were seen (customers), the counts
# that they pass on to broader contexts (tables), and their shares of the prediction. The weights
# sum to 1. The following row has an unseen narrowest context.

model = models["Pitman-Yor processes"]
explained = model.explain(X_test, as_frame=True)
seen = explained["customers"].to_numpy().reshape(len(X_test), -1)
row = int(np.flatnonzero((seen[:, -1] == 0) & (seen[:, -2] > 5))[0])
print(explained[explained["row"] == row].drop(columns="row").round(3).to_string(index=False))
print("discounts     ", model.discounts_.round(2))
print("concentrations", model.concentrations_.round(2))

# %%
# A narrow context that was seen more often has a larger weight.

import matplotlib.pyplot as plt

names = list(explained["level"][: seen.shape[1]])
weights = explained["weight"].to_numpy().reshape(seen.shape)
edges = [0, 1, 2, 4, 10, 100]
which = np.digitize(seen[:, -1], edges[1:])
bins = ["0", "1", "2-3", "4-9", "10-99", "100 +"]
figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
shown = {name: loss for name, loss in losses.items() if name != "without context"}
colors = ["tab:gray"] * 2 + ["tab:blue"] * 3
axes[0].scatter(shown.values(), list(shown), color=colors, zorder=2)
for name, loss in shown.items():
    axes[0].annotate(f"{loss:.3f}", (loss, name), (6, 6), textcoords="offset points")
axes[0].invert_yaxis()
axes[0].margins(x=0.2, y=0.15)
axes[0].set(xlabel="nats an event", title="log loss")

means = np.array([weights[which == b].mean(axis=0) for b in range(len(bins))])
colors = plt.get_cmap("viridis")(np.linspace(0.0, 1.0, len(names)))
below = np.zeros(len(bins))
for level in range(len(names)):
    axes[1].bar(bins, means[:, level], bottom=below, color=colors[level], label=names[level])
    below += means[:, level]
axes[1].set(xlabel="times that the narrowest context was seen", title="share of the prediction")
axes[1].legend(*(part[::-1] for part in axes[1].get_legend_handles_labels()), loc="upper left",
               bbox_to_anchor=(1.0, 1.0), title="level")  # fmt: skip
figure.savefig("syntax_in_context.png", dpi=100)
