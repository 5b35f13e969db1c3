"""
A grammar learned from sentences
================================

Sentences such as "the big mouse ate a dog" are drawn from a small grammar, and a model learns a
grammar from them: the words that play the same role, the sequences of words that form a phrase, and
the number of kinds of words and phrases. The model is not given the boundaries of phrases.

::

    python examples/grammar/plot_grammar_induction.py [sentences.txt]

With a file, its lines are the sentences.
"""

# %%
# Sentences
# ---------

import argparse
from pathlib import Path

from skdp.datasets import make_pcfg_corpus
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import HDPPCFG
from skdp.inspection import GrammarDisplay, LowerBoundDisplay, ParseTreeDisplay
from skdp.metrics import bracket_scores

parser = argparse.ArgumentParser(description="Learn a grammar from sentences.")
parser.add_argument("sentences", nargs="?", help="text file with one sentence per line")
parser.add_argument("--max-length", type=int, default=20, help="leave out longer sentences")
parser.add_argument("--n-components", type=int, default=8, help="of preterminals, too")
parser.add_argument("--n-init", type=int, default=5)
parser.add_argument("--output", default="grammar_induction", help="files for the figures begin so")
options = parser.parse_args()

if options.sentences is None:
    corpus = make_pcfg_corpus(400, max_length=options.max_length, random_state=0)
    X, words, trees = corpus.data, corpus.feature_names, corpus.trees
else:
    lines = Path(options.sentences).read_text(encoding="utf-8").splitlines()
    vectorizer = TokenVectorizer()
    X = vectorizer.fit_transform([line for line in lines if line.strip()])
    X = X[[0 < len(sentence) <= options.max_length for sentence in X]]
    words, trees = vectorizer.get_feature_names_out(), None

# %%
# A grammar
# ---------
#
# The upper bounds on the numbers of symbols are larger than the sentences require. Small
# concentrations favor few rules and few words in a class. Many grammars produce the same sentences:
# subject and verb may be joined first, or noun phrases may branch to the left. The prior of the
# types of rules (two words, a word and a phrase, a phrase and a word, two phrases) determines the
# kind of grammar to find: phrases made of two phrases, and otherwise right branches. The best of
# several starts is kept.

model = HDPPCFG(
    options.n_components,
    n_preterminals=options.n_components,
    top_concentration=0.01,
    root_concentration=0.01,
    rule_type_prior=[0.01, 0.1, 0.01, 0.1],
    emission_prior=0.01,
    binary_concentration=0.01,
    n_init=options.n_init,
    max_iter=150,
    random_state=0,
)
model.fit(X)
print(f"{model.n_active_components_} symbols, {model.n_active_rules_} rules")
print(f"{model.score(X):.3f} nats per word")
if trees is not None:
    found = [
        tree.with_leaves(true.leaves) for tree, true in zip(model.predict(X), trees, strict=True)
    ]
    scores = bracket_scores(trees, found, labelled=False, trivial=False)
    print(f"{scores.f1:.3f} bracket F1 against the trees that the sentences were drawn from")

# %%
# The learned grammar
# -------------------
#
# The figure shows the rules, with symbols in the order in which sentences reach them. Preterminals
# (P) produce words, constituents (C) phrases.

rules = GrammarDisplay.from_estimator(model, feature_names=words, threshold=0.01)
rules.figure_.savefig(f"{options.output}_rules.png", dpi=100)

# %%
# The trees of some sentences show how the rules work together.

some = X[sorted(range(len(X)), key=lambda i: abs(len(X[i]) - 8))[:4]]
trees = ParseTreeDisplay.from_estimator(model, some, feature_names=words)
trees.figure_.savefig(f"{options.output}_trees.png", dpi=100)

# %%
# Was the fit long enough? The line is the lower bound of the best start after each iteration. It is
# steep at first, while the symbols find their roles, and should be flat at its end.

bounds = LowerBoundDisplay.from_estimator(model)
bounds.figure_.savefig(f"{options.output}_bounds.png", dpi=100)
