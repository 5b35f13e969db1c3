"""
What do sentences have in common with the next ones?
====================================================

Successive sentences of a text are about overlapping sets of things. Here a state is a set of
factors, each of which makes some words more probable, and a sentence that shares most factors with
the last one is more probable as the next. The number of factors is inferred: the sets have an
Indian buffet prior.
"""

# %%
# Sentences of a manual
# ---------------------
#
# The text is the Python language reference, which is part of every Python. A sequence is a section,
# a step is a sentence, and a column is a word that the sentence may contain. Every fourth section
# is held out.

import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from skdp.datasets import load_python_reference

reference = load_python_reference()
sections, titles = [], []
for title, paragraphs in zip(reference.titles, reference.data, strict=True):
    parts = [part for p in paragraphs for part in re.split(r"(?<=[.:;!?])\s+(?=[A-Z])", p)]
    sentences = [part for part in parts if len(part) > 20]
    if len(sentences) >= 10:
        sections.append(sentences)
        titles.append(title)

vectorizer = CountVectorizer(
    binary=True, stop_words="english", min_df=60, token_pattern=r"[a-z_]{4,}"
)
vectorizer.fit([sentence for section in sections for sentence in section])
words = vectorizer.get_feature_names_out()
presences = [vectorizer.transform(section).toarray().astype(float) for section in sections]
held_out = np.arange(len(sections)) % 4 == 3
train = [x for x, is_out in zip(presences, held_out, strict=True) if not is_out]
test = [x for x, is_out in zip(presences, held_out, strict=True) if is_out]
print(f"{len(train)} sections of {sum(map(len, train))} sentences; {len(words)} words")

# %%
# Factors
# -------
#
# Column d is 1 with probability Phi(w_0d + the weights of the factors that are on). The baselines
# are words that are independent of everything, states with a probability for each word, and a given
# number of factors.

from skdp.emissions import BinaryFactorEmission
from skdp.sequence import HDPHMMLT, LaplacianSimilarity

rates = (np.vstack(train).sum(axis=0) + 0.5) / (sum(map(len, train)) + 1.0)
rows = np.vstack(test)
independent = (rows * np.log(rates) + (1.0 - rows) * np.log(1.0 - rates)).sum(axis=1).mean()
print(f"independent words: {independent:.2f} nats a sentence")

similarity = LaplacianSimilarity()
models = {
    "states without factors": HDPHMMLT(40, emission="bernoulli"),
    "8 factors": HDPHMMLT(
        40, emission=BinaryFactorEmission(8, output="probit"), similarity=similarity
    ),
    "inferred factors": HDPHMMLT(
        40, emission=BinaryFactorEmission("auto", output="probit"), similarity=similarity
    ),
}
for name, model in models.items():
    model.set_params(max_iter=250, random_state=0).fit(train)
    print(f"{name}: {model.score(test):.2f} nats a sentence")
model = models["inferred factors"]
print(f"{model.n_active_factors_} factors in {model.n_active_components_} states")

# %%
# All models predict held-out sentences better than independent words do, by about half a nat, and
# they differ little from each other. Here an inferred number of factors does not improve on states
# without factors: most factors belong to few states. The factors show which words come and go
# together. A factor that differs makes a move less probable a priori, by this number:

print(f"{np.exp(model.decay_):.1f} times")

# %%
# One section
# -----------
#
# The figure shows which factors are on in the sentences of the longest section that was held out.
# A factor is named by the words whose probabilities it increases most.

weights, factors = model.emission_.weights, model.factors_
shares = model.state_shares_ @ factors
varying = np.flatnonzero((shares > 0.02) & (shares < 0.9))[:10]
names = [", ".join(words[np.argsort(-weights[f + 1])[:4]]) for f in varying]
longest = max(np.flatnonzero(held_out), key=lambda i: len(sections[i]))
on = factors[model.predict(presences[longest])][:, varying]

figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
ax.imshow(on.T, aspect="auto", cmap="Blues", interpolation="nearest", vmin=0, vmax=1.3)
ax.set_yticks(range(len(names)), names)
ax.set(xlabel="sentence", title=titles[longest])
plt.show()
