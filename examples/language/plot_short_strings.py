"""
Where a short string comes from
===============================

One character-level language model per class makes a classifier: it predicts the class whose model
gives a string the highest probability. Here strings are lines of about 60 characters, and classes
are sections of the Python language reference, which is part of every Python installation.
"""

# %%
# Lines of eight sections
# -----------------------
#
# The eight longest sections are cut into lines. The last quarter of a section is the test set, so
# no paragraph has lines in both parts.

import textwrap

from skdp.datasets import load_python_reference

reference = load_python_reference()
text = {name: " ".join(parts) for name, parts in zip(reference.names, reference.data, strict=True)}
sections = sorted(sorted(text, key=lambda name: -len(text[name]))[:8])
train, test = {}, {}
for name in sections:
    begin = 3 * len(text[name]) // 4
    train[name] = textwrap.wrap(text[name][:begin], 60)
    test[name] = textwrap.wrap(text[name][begin:], 60)
    print(f"{name:18} {len(train[name]):4} lines to learn from, {len(test[name]):4} to test")
print(train["debugger"][0])

# %%
# Three classifiers
# -----------------
#
# :class:`~skdp.language.LanguageModelClassifier` fits one
# :class:`~skdp.language.HierarchicalPitmanYorLM` to the lines of each section. A symbol is a
# character, and lines are windows of longer text, so their ends are not informative
# (``end_of_sequence=False``). The other two classifiers use the counts of n-grams of one to four
# characters.

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdp.feature_extraction import TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, LanguageModelClassifier

n_grams = {"analyzer": "char", "ngram_range": (1, 4), "lowercase": False}
classifiers = {
    "Pitman-Yor language models": make_pipeline(
        TokenVectorizer(analyzer="char", min_count=1, unknown_words="single"),
        LanguageModelClassifier(
            HierarchicalPitmanYorLM(
                order=5, end_of_sequence=False, max_iter=30, n_samples=10, random_state=0
            ),
            class_prior="uniform",
        ),
    ),
    "naive Bayes": make_pipeline(CountVectorizer(**n_grams), MultinomialNB(alpha=0.1)),
    "TF-IDF, logistic regression": make_pipeline(
        TfidfVectorizer(sublinear_tf=True, **n_grams), LogisticRegression(C=10, tol=1e-5)
    ),
}

# %%
# Accuracy and the amount of text
# -------------------------------
#
# All classifiers learn from the same random lines: 5, 20, or 80 of each section. A line contains
# little information, and the end of a section has other subjects than its beginning, so all
# classifiers err often. The other two are up to four points ahead: logistic regression learns the
# differences between sections, not their text. The advantage of the language models is shown below.

import numpy as np

X_test = [line for name in sections for line in test[name]]
y_test = [name for name in sections for line in test[name]]
weight = 1.0 / np.array([len(test[name]) for name in y_test])  # sections count alike
sizes = [5, 20, 80]
n_draws = 2
accuracy = {name: np.empty((len(sizes), n_draws)) for name in classifiers}
rng = np.random.default_rng(0)
for draw in range(n_draws):
    order = {name: rng.permutation(len(train[name])) for name in sections}
    for i, size in enumerate(sizes):
        X = [train[name][j] for name in sections for j in order[name][:size]]
        y = [name for name in sections for j in order[name][:size]]
        for title, classifier in classifiers.items():
            classifier.fit(X, y)
            accuracy[title][i, draw] = classifier.score(X_test, y_test, sample_weight=weight)
print("lines a section  " + "  ".join(classifiers))
for i, size in enumerate(sizes):
    print(size, *(f"{values[i].mean():.3f}" for values in accuracy.values()))

# %%
# The evidence of a line, character by character
# ----------------------------------------------
#
# A language model locates the evidence: for each character, the plot shows the log probability in
# the line's own section minus the log probability in the second most probable section. Most of the
# evidence is in the first letters of words that the other section hardly uses; their last letters
# are predictable. The plot shows the line that is classified with the most certainty.

import matplotlib.pyplot as plt

vectorizer, model = classifiers["Pitman-Yor language models"]
symbols = vectorizer.transform(X_test)
log_proba = model.predict_log_proba(symbols)
own = np.array([sections.index(name) for name in y_test])
rows = np.arange(len(own))
certainty = np.where(np.array([len(line) > 55 for line in X_test]), log_proba[rows, own], -np.inf)
i = int(np.argmax(certainty))
second = int(np.argsort(log_proba[i])[-2])
line = X_test[i]
evidence = (
    model.estimators_[own[i]].log_proba(symbols[[i]])[0]
    - model.estimators_[second].log_proba(symbols[[i]])[0]
)
print(f"{y_test[i]}: {line}")

figure, axes = plt.subplots(2, figsize=(9, 6), height_ratios=[3, 2], layout="constrained")
for (title, values), style in zip(accuracy.items(), ["o-", "s--", "^:"], strict=True):
    axes[0].plot(sizes, values.mean(axis=1), style, label=title)
axes[0].axhline(1 / len(sections), color="gray", lw=1)
axes[0].text(sizes[-1], 1 / len(sections), "guessing", ha="right", va="bottom", color="gray")
axes[0].set_xscale("log")
axes[0].set_xticks(sizes, sizes)
axes[0].minorticks_off()
axes[0].set(xlabel="lines of each section to learn from", ylabel="accuracy")
axes[0].legend()
places = np.arange(len(line))
axes[1].bar(places, evidence, color=np.where(evidence > 0, "C0", "C3"))
axes[1].axhline(0, color="black", lw=0.5)
axes[1].set_xticks(places, list(line), fontsize=9)
axes[1].tick_params(axis="x", length=0)
axes[1].set_ylabel("nats")
axes[1].set_title(f"evidence for {sections[own[i]]!r} against {sections[second]!r}")
figure.savefig("short_strings.png", dpi=100)
