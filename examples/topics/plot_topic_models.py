"""
Topic models side by side
=========================

Do topics belong to documents or to paragraphs, and how do paragraphs hang together? All topic
models answer in their own way, and the words that they have not seen decide.
"""

# %%
# The test
# --------
#
# The text is the Python language reference, which comes with every Python installation. Every third
# section is for the test. `score` is the mean log probability of the second half of the words of
# each part, given the first half, in nats a word.

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.datasets import load_python_reference
from skdp.feature_extraction import SegmentVectorizer

reference = load_python_reference()
vectorizer = SegmentVectorizer(
    token_pattern="[a-z]{3,}", stop_words=sorted(ENGLISH_STOP_WORDS), min_df=3
)
corpus = vectorizer.fit_transform(reference.data)
X_test = corpus[::3]
X_train = corpus[[i for i in range(len(reference.data)) if i % 3]]
print(X_train)
print(X_test)

# %%
# Seven models
# ------------
#
# :class:`~skdp.topics.GibbsLDA` knows sections or paragraphs, but not both.
# :class:`~skdp.topics.LatentDirichletCoClustering` gives paragraphs topics of their own. In the
# others, a paragraph's topics are close to those of its section, to those of the paragraph before,
# or to both. :class:`~skdp.topics.HDPTopicModel` finds how many topics there are: it takes about
# sixty, four times as many as the others are given, and this is why it comes out ahead. It does not
# know of paragraphs.

from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

chain = {"max_iter": 200, "random_state": 0}
models = {
    "LDA of sections": GibbsLDA(14, level="document", **chain),
    "LDA of paragraphs": GibbsLDA(14, level="segment", **chain),
    "co-clustering": LatentDirichletCoClustering(14, **chain),
    "segmented": SegmentedTopicModel(14, **chain),
    "sequential": SequentialLDA(14, **chain),
    "adaptive": AdaptiveTopicModel(14, **chain),
    "HDP of sections": HDPTopicModel(**chain),
}
scores = {}
for name, model in models.items():
    scores[name] = model.fit(X_train).score(X_test)
    print(f"{name:18} {scores[name]:.3f} nats a word")

# %%
# The picture
# -----------
#
# On the right is the posterior of the number of topics, of which the other models have fourteen.

import matplotlib.pyplot as plt
import numpy as np

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
order = sorted(scores, key=scores.get)
left.plot([scores[name] for name in order], order, "o", color="#0072B2")
left.grid(axis="x", color="0.9")
left.margins(x=0.1)
left.set(xlabel="held-out nats a word (more is better)", title="which model predicts best?")
posterior = models["HDP of sections"].n_components_distribution_
shown = np.flatnonzero(posterior > 0)
right.bar(np.arange(shown.min(), shown.max() + 1), posterior[shown.min() :], color="#E69F00")
right.xaxis.get_major_locator().set_params(integer=True)
right.set(xlabel="topics", ylabel="posterior probability", title="how many topics?")
figure.savefig("topic_models.png", dpi=100)
