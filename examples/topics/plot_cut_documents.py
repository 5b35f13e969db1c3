"""
Where a document changes its subject
====================================

Minutes and manuals pass from one subject to the next without saying so. ``TopicSegmenter`` finds
the gaps between paragraphs at which the subject changes, with a probability for each. The texts are
joined from sections of the Python language reference, so the true cuts are known.
"""

# %%
# Texts with known cuts
# ---------------------
#
# Each of 60 texts consists of four passages of 4 to 8 paragraphs from four random sections.

import numpy as np

from skdp.datasets import load_python_reference
from skdp.feature_extraction import SegmentVectorizer

sections = [section for section in load_python_reference().data if len(section) >= 12]
rng = np.random.default_rng(0)
texts, truth = [], []
for _ in range(60):
    lengths = rng.integers(4, 9, size=4)
    chosen = rng.choice(len(sections), 4, replace=False)
    starts = [rng.integers(len(sections[k]) - n + 1) for k, n in zip(chosen, lengths, strict=True)]
    passages = zip(chosen, starts, lengths, strict=True)
    texts.append([paragraph for k, a, n in passages for paragraph in sections[k][a : a + n]])
    truth.append(np.cumsum(lengths)[:-1])
vectorizer = SegmentVectorizer(stop_words="english", min_df=2)
corpus = vectorizer.fit_transform(texts)
print(corpus)

# %%
# Cuts and their probabilities
# ----------------------------
#
# A small corpus needs few topics: 50 rather than the default of 200. ``predict`` returns the most
# probable division of each text.

from skdp.topics import TopicSegmenter

segmenter = TopicSegmenter(50, random_state=0).fit(corpus)
cuts = segmenter.predict(corpus)
n_found = sum(len(np.intersect1d(found, true)) for found, true in zip(cuts, truth, strict=True))
print(f"{n_found} of {sum(map(len, truth))} cuts found, {sum(map(len, cuts)) - n_found} wrong")

# %%
# The plot shows the subjects of two texts from paragraph to paragraph. The height of a black line
# is the probability of a cut, and triangles mark the true cuts.

import matplotlib.pyplot as plt

from skdp.inspection import TopicEvolutionDisplay

words = vectorizer.get_feature_names_out()
figure, axes = plt.subplots(2, figsize=(11, 7), layout="constrained")
for ax, d in zip(axes, [3, 4], strict=True):
    TopicEvolutionDisplay.from_estimator(
        segmenter, corpus, document=d, true_cuts=truth[d], feature_names=words, ax=ax
    )
    ax.set(title=f"text {d}", xlabel="paragraph")
figure.savefig("cuts.png", dpi=100)

# %%
# Parts as segments, and a summary
# --------------------------------
#
# ``merge`` turns parts into segments, here of at most 150 words, for an index or a classifier.
# ``with_parts`` keeps the paragraphs and marks where parts begin, so that one paragraph can stand
# for each part.

chunks = segmenter.merge(corpus, segmenter.predict(corpus, max_words=150))
print(f"{len(chunks.segment_ptr) - 1} chunks of up to {np.diff(chunks.segment_ptr).max()} words")

divided = corpus.with_parts(cuts)
for paragraph in segmenter.representative_segments(divided, n_segments=4)[3]:
    print(f"{paragraph + 1:3}: {' '.join(texts[3][paragraph].split())[:90]}...")
