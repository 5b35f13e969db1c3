"""
The next word of the Python reference
=====================================

A language model says how surprising each word is, given those before it. The text is the Python
language reference, which comes with every Python installation.
"""

# %%
# Sentences
# ---------
#
# Sentences of every fifth paragraph are for the test. Words that occur once in the training text
# are replaced by classes such as "UNK:-ing", so that models have a probability for words that they
# do not know. Punctuation marks are words.

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
# of order n sees n - 1 words of context. Most is gained with the first two; longer contexts help
# where the reference repeats itself, and leave the word to shorter ones where they say nothing.
# The mean over 20 samples predicts better than a single sample, and from order 3 on better than
# Kneser-Ney smoothing, which approximates the model.

from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM

orders = [2, 3, 4, 5, 6]
curves = {
    "modified Kneser-Ney": lambda order: KneserNeyLM(order),
    "Pitman-Yor, one sample": lambda order: HierarchicalPitmanYorLM(
        order, max_iter=20, n_samples=1, random_state=0
    ),
    "Pitman-Yor, mean of 20": lambda order: HierarchicalPitmanYorLM(
        order, max_iter=40, n_samples=20, random_state=0
    ),
}
models = {}
for title, make in curves.items():
    models[title] = [make(order).fit(X_train) for order in orders]
    perplexities = [model.perplexity(X_test) for model in models[title]]
    curves[title] = perplexities
    print(f"{title:24}", *(f"{perplexity:6.1f}" for perplexity in perplexities))
lm = models["Pitman-Yor, mean of 20"][1]
print("discounts     ", lm.discounts_.round(2))
print("concentrations", lm.concentrations_.round(2))

# %%
# Word by word
# ------------
#
# The surprisal of a word is -log2 of its probability: the bits that it takes to tell which word it
# is. Here is a sentence of the test part with the surprisal given two words of context and given
# none, the one of about 14 words to which the context matters as much as to the median.

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
# Why does the Pitman-Yor process suit words? Draws from it have a few frequent types and very many
# rare ones, as text has. The discount of the model without context says how heavy that tail is.
# Draws with this discount, of the same length as the text, come close to its frequencies by rank,
# but for more words that occur once or twice. With discount 0, which makes it a Dirichlet process,
# no word is very frequent, and few are rare.

from skdp.processes import sample_crp

counter = TokenVectorizer(lowercase=True, min_count=1)
text = counter.fit_transform(train + test)
unigrams = HierarchicalPitmanYorLM(1, end_of_sequence=False, max_iter=40, random_state=0).fit(text)
discount, concentration = float(unigrams.discounts_[0]), float(unigrams.concentrations_[0])
frequencies = np.sort(np.bincount(text.tokens))[::-1]
n_words = len(text.tokens)
print(f"{n_words} words of {len(frequencies)} types; discount {discount:.2f}")

# %%

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
styles = ["o--", "o:", "o-"]
for (title, perplexities), style in zip(curves.items(), styles, strict=True):
    axes[0].plot(orders, perplexities, style, label=title)
axes[0].set(xlabel="order", ylabel="perplexity of the test part", xticks=orders, yscale="log")
axes[0].set_title("words of context")
axes[0].yaxis.set_major_formatter("{x:.0f}")
axes[0].yaxis.set_minor_formatter("{x:.0f}")
axes[0].legend()

places = np.arange(len(words))
for offset, (title, values) in zip((-0.2, 0.2), bits.items(), strict=True):
    axes[1].barh(places + offset, values, height=0.4, label=title)
axes[1].set_yticks(places, words, fontsize=8)
axes[1].invert_yaxis()
axes[1].set(xlabel="bits", title="surprisal of each word", xlim=(0, 24))
axes[1].legend(title="given", loc="center right")

ranks = np.arange(1, len(frequencies) + 1)
axes[2].loglog(ranks, frequencies, color="black", lw=2, label="the text")
for seed in range(3):
    seats = sample_crp(n_words, discount=discount, concentration=concentration, random_state=seed)
    sizes = np.sort(np.bincount(seats))[::-1]
    label = f"draws, discount {discount:.2f}" if seed == 0 else None
    axes[2].loglog(np.arange(1, len(sizes) + 1), sizes, color="C0", alpha=0.6, label=label)
plain = HierarchicalPitmanYorLM(
    1, discount=0.0, end_of_sequence=False, max_iter=40, random_state=0
).fit(text)
concentration = float(plain.concentrations_[0])
seats = sample_crp(n_words, discount=0.0, concentration=concentration, random_state=0)
sizes = np.sort(np.bincount(seats))[::-1]
axes[2].loglog(np.arange(1, len(sizes) + 1), sizes, "C3--", label="draw, discount 0")
axes[2].set(xlabel="rank", ylabel="frequency", title="words by rank")
axes[2].legend()
figure.savefig("next_word.png", dpi=100)
