"""
Topic models side by side
=========================

Do topics belong to documents or to paragraphs, and how are paragraphs related? Each topic model
makes a different assumption, and held-out words show which is best.
"""

# %%
# The test
# --------
#
# The text is the Python language reference, which is part of every Python installation. Every third
# section is in the test set. `score` is the mean log probability of half of the words of each part,
# given the other half, in nats per word.

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
# :class:`~skdp.topics.GibbsLDA` models sections or paragraphs, but not both.
# :class:`~skdp.topics.LatentDirichletCoClustering` gives paragraphs their own topics. In the other
# models, a paragraph's topics are close to those of its section, of the previous paragraph, or of
# both. :class:`~skdp.topics.HDPTopicModel` infers the number of topics: it uses hundreds, many more
# than the others have, and therefore scores best. It ignores paragraphs.

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
# The right side shows the posterior of the number of topics; the other models have fourteen topics.

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
