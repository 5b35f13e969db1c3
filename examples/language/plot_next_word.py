"""
The next word of the Python reference
=====================================

A language model gives the surprisal of each word, given the preceding words. The text is the Python
language reference, which is part of every Python installation.
"""

# %%
# Sentences
# ---------
#
# The sentences of every fifth paragraph form the test set. Words that occur once in the training
# text are replaced by classes such as "UNK:-ing", so that models have a probability for unknown
# words. Punctuation marks are words.

import re

from skdp.datasets import load_python_reference
from skdp.feature_extraction import TokenVectorizer

paragraphs = [paragraph for section in load_python_reference().data for paragraph in section]


def cut(paragraphs):
    """Return the sentences of paragraphs."""
    return [s for text in paragraphs for s in re.split(r"(?<=[.:?!])\s+(?=[A-Z])", text)]


train = cut(text for i, text in enumerate(paragraphs) if i % 5)
test = cut(paragraphs[::5])
vectorizer = TokenVectorizer(lowercase=True)
X_train = vectorizer.fit_transform(train)
X_test = vectorizer.transform(test)
print(X_train)
print(X_test)

# %%
# How many words of context
# -------------------------
#
# Perplexity is the number of equally likely words that would be as hard to guess. An n-gram model
# of order n uses n - 1 words of context. The first two words help most; longer contexts help if the
# reference repeats itself, and back off to shorter contexts otherwise. The mean over 20 samples
# predicts better than a single sample and, from order 3 on, better than Kneser-Ney smoothing, which
# approximates the model.

from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM

orders = [2, 3, 4, 5, 6]
makers = {
    "modified Kneser-Ney": lambda order: KneserNeyLM(order),
    "Pitman-Yor, one sample": lambda order: HierarchicalPitmanYorLM(
        order, max_iter=30, n_samples=1, random_state=0
    ),
    "Pitman-Yor, mean of 20": lambda order: HierarchicalPitmanYorLM(
        order, max_iter=40, n_samples=20, random_state=0
    ),
}
models = {}
for title, make in makers.items():
    models[title] = [make(order).fit(X_train) for order in orders]
    perplexities = [model.perplexity(X_test) for model in models[title]]
    print(f"{title:24}", *(f"{perplexity:6.1f}" for perplexity in perplexities))
lm = models["Pitman-Yor, mean of 20"][1]
print("discounts     ", lm.discounts_.round(2))
print("concentrations", lm.concentrations_.round(2))

# %%
# Word by word
# ------------
#
# The surprisal of a word is -log2 of its probability: the number of bits needed to identify the
# word. The output shows a test sentence with the surprisal given two words of context and given
# none. Of the sentences of about 14 words, it is the median by the effect of the context.

import numpy as np

without = HierarchicalPitmanYorLM(1, max_iter=40, random_state=0).fit(X_train)
print(f"perplexity without context {without.perplexity(X_test):.1f}")
medium = np.flatnonzero(np.isin([len(s) for s in X_test], [13, 14, 15]))
gains = lm.score_samples(X_test[medium]) - without.score_samples(X_test[medium])
sentence = X_test[medium[[np.argsort(gains)[len(gains) // 2]]]]
words = [*vectorizer.inverse_transform(sentence)[0], "(end)"]
bits = {
    "no context": -without.log_proba(sentence)[0] / np.log(2),
    "two words": -lm.log_proba(sentence)[0] / np.log(2),
}
for word, *row in zip(words, *bits.values(), strict=True):
    print(f"{word:16}", *(f"{value:5.1f}" for value in row))

# %%
# A power law
# -----------
#
# Why does the Pitman-Yor process suit words? Texts drawn from it have a few frequent words and very
# many rare ones, like real texts. The discount of the model without context measures the weight of
# this tail. Texts of the same length drawn with the learned discount and concentration come close
# to the observed frequencies by rank. With discount 0, which makes it a Dirichlet process, no word
# is very frequent, and few are rare.

counter = TokenVectorizer(lowercase=True, min_count=1)
text = counter.fit_transform(train + test)
unigrams = HierarchicalPitmanYorLM(1, end_of_sequence=False, max_iter=40, random_state=0).fit(text)
plain = HierarchicalPitmanYorLM(
    1, discount=0.0, end_of_sequence=False, max_iter=40, random_state=0
).fit(text)
print(f"{len(text.tokens)} words of {text.n_features} types; ", end="")
print(f"discount {unigrams.discounts_[0]:.2f}")

# %%

import matplotlib.pyplot as plt

from skdp.inspection import LexiconDisplay, PerplexityDisplay

figure, axes = plt.subplots(2, 2, figsize=(12, 7.5), layout="constrained")


def put_legend_inside(display):
    """Move the legend of a display into an empty corner of its axes."""
    labels = [label.get_text() for label in display.legend_.get_texts()]
    handles = display.legend_.legend_handles
    display.ax_.legend(handles, labels, loc="upper right", frameon=False)


put_legend_inside(PerplexityDisplay.from_estimators(models, X_test, ax=axes[0, 0]))
axes[0, 0].set_title("words of context")

places = np.arange(len(words))
colors = ["#0072B2", "#E69F00"]
for offset, color, (title, values) in zip((-0.2, 0.2), colors, bits.items(), strict=True):
    axes[0, 1].barh(places + offset, values, height=0.4, color=color, label=title)
axes[0, 1].set_yticks(places, words, fontsize=8)
axes[0, 1].invert_yaxis()
axes[0, 1].set(xlabel="bits", title="surprisal of each word", xlim=(0, 22))
axes[0, 1].legend(title="given", loc="lower right", frameon=False)

for ax, model, title in zip(
    axes[1], [unigrams, plain], ["discount learned", "discount 0"], strict=True
):
    put_legend_inside(LexiconDisplay.from_estimator(model, text, random_state=0, ax=ax))
    ax.set_title(f"words by rank, {title}")
figure.savefig("next_word.png", dpi=100)
