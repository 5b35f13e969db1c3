"""
Precedence of operators, learned from trees
===========================================

A treebank with one symbol for all phrases does not label the precedence of operators. A grammar
read off its trees has to guess. :class:`~skdp.grammar.HDPPCFGRefiner` splits the symbol into
subsymbols, which learn the table of precedence of the Python language.
"""

# %%
# A treebank that comes with Python
# ---------------------------------
#
# The expressions come from the source of the standard library. Names, calls, and constants become
# one word, ``x``. The remaining words are operators, and the symbols are ``E`` for every expression
# and ``O`` for every operator. Only expressions that need no parentheses are used, so precedence
# alone determines their trees.

import ast
import warnings
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skdp.grammar import HDPPCFGRefiner, ParseTree

WORDS = {
    ast.Or: "or", ast.And: "and", ast.Not: "not", ast.In: "in", ast.NotIn: "not-in", ast.Is: "is",
    ast.IsNot: "is-not", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
    ast.GtE: ">=", ast.BitOr: "|", ast.BitAnd: "&", ast.LShift: "<<", ast.RShift: ">>",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitXor: "^", ast.MatMult: "@", ast.USub: "-", ast.UAdd: "+",
    ast.Invert: "~",
}  # fmt: skip
KINDS = (ast.BoolOp, ast.BinOp, ast.Compare, ast.UnaryOp)


def to_tree(node):
    """Return the tree of an expression, with x for all operands."""
    match node:
        case ast.BoolOp(op=op, values=parts):
            operators = [op] * (len(parts) - 1)
        case ast.BinOp(left=left, op=op, right=right):
            parts, operators = [left, right], [op]
        case ast.Compare(left=left, ops=operators, comparators=others):
            parts = [left, *others]
        case ast.UnaryOp(op=op, operand=part):
            return ParseTree("E", [ParseTree("O", [WORDS[type(op)]]), to_tree(part)])
        case _:
            return ParseTree("E", ["x"])
    children = [to_tree(parts[0])]
    for operator, part in zip(operators, parts[1:], strict=True):
        children += [ParseTree("O", [WORDS[type(operator)]]), to_tree(part)]
    return ParseTree("E", children)


def needs_no_parentheses(tree):
    """Return whether Python parses the words of a tree, without parentheses, to this tree."""
    text = " ".join(tree.leaves).replace("not-in", "not in").replace("is-not", "is not")
    try:
        return to_tree(ast.parse(text, mode="eval").body) == tree
    except SyntaxError:
        return False


def read_expressions(paths):
    """Return the trees of all whole expressions of two to eight operators, and their numbers."""
    trees = Counter()
    for path in paths:
        found = [(ast.parse(path.read_text("utf-8")), False)]
        while found:
            node, is_part = found.pop()
            is_expression = isinstance(node, KINDS)
            found += [(child, is_expression) for child in ast.iter_child_nodes(node)]
            if is_expression and not is_part:
                tree = to_tree(node)
                n_operators = sum(word != "x" for word in tree.leaves)
                if 2 <= n_operators <= 8 and needs_no_parentheses(tree):
                    trees[tree] += 1
    return trees


library = Path(ast.__file__).parent
with warnings.catch_warnings(action="ignore"):  # some files have invalid escape sequences
    packages = [".", "asyncio", "email", "http", "importlib", "json", "logging", "multiprocessing"]
    paths = [path for package in packages for path in sorted(library.glob(f"{package}/*.py"))]
    trees = read_expressions(paths)
kinds = np.random.default_rng(0).permutation(len(trees))
kinds = [list(trees)[i] for i in kinds]
test, others = kinds[: len(kinds) // 3], kinds[len(kinds) // 3 :]
train = [tree for tree in others for _ in range(trees[tree])]
print(len(train), "expressions to learn from, and", len(test), "kinds that are not among them:")
for tree in test[:4]:
    print(" ", *tree.leaves)

# %%
# Subsymbols
# ----------
#
# With one subsymbol the grammar is read directly off the trees. The score is the F1 of brackets;
# next to it is the share of kinds of expressions whose trees are entirely correct. The fit uses
# smoothed maximum likelihood. Structured mean field, the default, is designed for thousands of
# words and symbols and gains less on this small problem: compare the two on your trees.


def leaves(trees):
    return [tree.leaves for tree in trees]


numbers, scores, exact = [1, 2, 4, 8, 12], [], []
for n in numbers:
    model = HDPPCFGRefiner(
        n, inference="em", pseudo_count=0.01, min_word_count=1, max_iter=300, tol=1e-3,
        random_state=0,
    ).fit(leaves(train), train)  # fmt: skip
    scores.append(model.score(leaves(test), test))
    exact.append(np.mean([a == b for a, b in zip(model.predict(leaves(test)), test, strict=True)]))
    print(f"{n} subsymbols: F1 {scores[-1]:.2f}, {exact[-1]:.2f} of the trees without an error")

# %%
# The table of precedence
# -----------------------
#
# How does the model parse ``x or x + x``? There are two trees, and ``tree_proba`` returns the
# posterior probability of each. For all pairs of some operators, the picture shows the probability
# that the first of the two is applied first. The operators are listed from weak to strong, so
# Python's table is violet below the diagonal and orange above it; ``in`` and ``==`` are equally
# strong. If a cell is pale or wrong, the two operators are hardly ever adjacent in the training
# expressions.

operators = ["or", "and", "in", "==", "|", "+", "*", "**"]


def is_first(first, second):
    """Return the probability that the first of two operators is applied first."""
    if first == second:
        return np.nan
    inner = [f"(E (E x) (O {operator}) (E x))" for operator in (first, second)]
    readings = [f"(E {inner[0]} (O {second}) (E x))", f"(E (E x) (O {first}) {inner[1]})"]
    readings = [ParseTree.from_brackets(text) for text in readings]
    one, two = model.tree_proba(leaves(readings), readings)
    return one / (one + two)


table = np.array([[is_first(first, second) for second in operators] for first in operators])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
places = np.arange(len(numbers))
left.plot(places, scores, "o-", color="#0072B2", label="F1 of brackets")
left.plot(places, exact, "s--", color="#D55E00", label="trees without an error")
left.set_xticks(places, numbers)
left.set(ylim=(0, 1), xlabel="subsymbols of a symbol", title="Kinds of expressions not seen before")
left.legend(loc="lower right")
image = right.imshow(table, cmap="PuOr", vmin=0, vmax=1)
right.set_xticks(range(len(operators)), operators)
right.set_yticks(range(len(operators)), operators)
right.set(xlabel="second operator", ylabel="first operator", title="Which operator comes first?")
figure.colorbar(image, ax=right, label="P(the first is applied first)", shrink=0.9)
figure.savefig("operator_precedence.png", dpi=100)
