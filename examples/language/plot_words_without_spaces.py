"""
Words in text without spaces
============================

Where are the words in "theassertstatement"? A nested Pitman-Yor language model finds them without a
dictionary, from repetitions. The text is the Python language reference, which is part of every
Python installation, without its spaces.
"""

# %%
# Text without spaces
# -------------------
#
# The strings are the parts between two punctuation marks with at least three words. Only letters
# are kept. A quarter of the strings suffices.

import re

from skdp.datasets import load_python_reference
from skdp.language import strip_spaces

paragraphs = [text for section in load_python_reference().data for text in section]
parts = [part for text in paragraphs for part in re.split(r"[^a-z\s]+", text.lower())]
sentences = [" ".join(part.split()) for part in parts if len(part.split()) >= 3][::4]
X, cuts = strip_spaces(sentences)
print(len(X), "strings of", sum(map(len, X)), "characters, such as", X[0])

# %%
# Without and with known words
# ----------------------------
#
# Without supervision the model has an F of 0.66 for words. Most errors are parts that occur in many
# words ("statement s"), which are also units, though not orthographic words. Some strings that were
# segmented by hand guide it: with one of ten, F is 0.81. Scores are for the other strings.

from skdp.language import NestedPitmanYorLM
from skdp.metrics import segmentation_scores

models, scores = {}, {}
for name, step in {"none": None, "1 of 50": 50, "1 of 10": 10, "1 of 3": 3}.items():
    is_known = [step is not None and i % step == 0 for i in range(len(X))]
    known = [c if k else None for c, k in zip(cuts, is_known, strict=True)]
    model = NestedPitmanYorLM(n_chains=1, random_state=0).fit(X, known)
    new = [i for i, k in enumerate(is_known) if not k]
    found = model.predict([X[i] for i in new])
    models[name] = model
    scores[name] = segmentation_scores([sentences[i].split() for i in new], found)
    print(
        f"known: {name:8} F of words {scores[name].token_f:.2f}, of cuts "
        f"{scores[name].boundary_f:.2f}, of word types {scores[name].type_f:.2f}"
    )
print("most frequent words found:", *models["none"].lexicon_[:20])

# %%
# One string
# ----------
#
# Bars are the probabilities of cuts; most of them are near 0 or 1, whether right or wrong. In the
# upper plot no cuts were known; in the lower plot the cuts of every tenth string were known, but
# not of this string.

import matplotlib.pyplot as plt

from skdp.inspection import LexiconDisplay, SegmentationDisplay

i = min((i for i in range(len(X)) if i % 10), key=lambda i: abs(len(X[i]) - 105))
figure, axes = plt.subplots(2, figsize=(8, 4.6), layout="constrained")
for ax, name in zip(axes, ["none", "1 of 10"], strict=True):
    SegmentationDisplay.from_estimator(models[name], X, cuts[i], sample=i, width=56, ax=ax)
figure.savefig("words_without_spaces_cuts.png", dpi=100)

# %%
# Phrases, and words in parts
# ---------------------------
#
# :class:`~skdp.language.CollocationPitmanYorLM` adds a level between words and strings, for words
# that often occur together. It finds a few more words, with an F of 0.70, and identifies cuts that
# may not be word boundaries: its collocations are phrases, and words in parts.

from skdp.language import CollocationPitmanYorLM

model = CollocationPitmanYorLM(max_word_length=16, n_chains=1, max_iter=120, random_state=0).fit(X)
score = segmentation_scores([sentence.split() for sentence in sentences], model.predict(X))
together = [" ".join(words) for words in model.collocations_ if len(words) > 1]
print(f"F of words {score.token_f:.2f}; collocations:", *together[:20], sep="\n  ")

# %%
# The words
# ---------
#
# The first row shows the words found with no known cuts, the second the true words. Draws are texts
# from the process with the learned discounts and concentrations, before any data: it expects a few
# frequent words and very many rare ones, and a growth of their number similar to the data. The
# words found are shorter than the true words, because endings are cut off.

figure, axes = plt.subplots(2, 3, figsize=(12, 6.5), layout="constrained")
model = models["none"]
law = {
    "discount": model.word_discounts_,
    "concentration": model.word_concentrations_,
    "word_length": model.word_length_,
    "max_word_length": model.max_word_length,
}
true = [sentence.split() for sentence in sentences]
for row, words, name in zip(axes, [model.predict(X), true], ["found", "true"], strict=True):
    display = LexiconDisplay(words, **law)
    for ax, kind in zip(row, ["rank-frequency", "growth", "lengths"], strict=True):
        display.plot(ax, kind=kind, name=name, random_state=0)
        place = "upper left" if kind == "growth" else "upper right"
        labels = [text.get_text() for text in display.legend_.get_texts()]
        ax.legend(display.legend_.legend_handles, labels, loc=place, frameon=False)
        ax.set_title(f"{name} words")
figure.savefig("words_without_spaces.png", dpi=100)
