"""
A grammar learnt from sentences
===============================

Sentences such as "the big mouse ate a dog" are drawn from a small grammar, and a grammar is learnt
from them: which words do the same work, which sequences of words make a phrase, and how many kinds
of either there are. Nothing tells the model where phrases begin or end.

::

    python plot_grammar_induction.py [sentences.txt]

With a file, its lines are the sentences.
"""

# %%
# Sentences
# ---------

import argparse
from pathlib import Path

import matplotlib.pyplot as plt

from skdp.datasets import make_pcfg_corpus
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import HDPPCFG
from skdp.inspection import GrammarDisplay, ParseTreeDisplay
from skdp.metrics import bracket_scores

parser = argparse.ArgumentParser(description="Learn a grammar from sentences.")
parser.add_argument("sentences", nargs="?", help="a text file, a sentence a line")
parser.add_argument("--max-length", type=int, default=20, help="of sentences to learn from")
parser.add_argument("--n-components", type=int, default=8, help="and as many preterminals")
parser.add_argument("--n-init", type=int, default=5)
parser.add_argument("--output", default="grammar_induction.png", help="file for the figure")
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
# The bounds of the numbers of symbols are larger than what the sentences need. Small concentrations
# ask for few rules and for few words in a class. Many grammars have the same sentences: subject and
# verb may be joined first, noun phrases may branch to the left. The prior of the types of rules
# (two words, a word and a phrase, a phrase and a word, two phrases) says what is looked for:
# phrases of two phrases, and otherwise right branches. The best of several starts counts.

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
print(f"{model.score(X):.3f} nats a word")
if trees is not None:
    found = [
        tree.with_leaves(true.leaves) for tree, true in zip(model.predict(X), trees, strict=True)
    ]
    scores = bracket_scores(trees, found, labelled=False, trivial=False)
    print(f"{scores.f1:.3f} F1 of brackets, against the trees that the sentences were drawn with")

# %%
# What it found
# -------------
#
# On the left the rules, the most frequent symbols first. Preterminals (P) stand for words,
# constituents (C) for phrases. On the right trees of some sentences.

some = X[sorted(range(len(X)), key=lambda i: abs(len(X[i]) - 8))[:2]]
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 7), width_ratios=[1, 1.2])
GrammarDisplay.from_estimator(model, feature_names=words, threshold=0.01, ax=left)
ParseTreeDisplay.from_estimator(model, some, feature_names=words, ax=right)
figure.savefig(options.output, dpi=100)
