"""
Do two models find the same topics?
===================================

A model of topics is fitted again, with other random numbers or other assumptions. Which topics are
the same, and does the second model tell the same story of a document? The documents are those
sections of the Python language reference, read with ``help()``, that have ten paragraphs or more.
"""

# %%
# Two fits
# --------
#
# The first model knows that paragraphs of a section belong together. The second one,
# :class:`~skdp.topics.AdaptiveTopicModel`, knows their order too: a paragraph can take its topics
# from the paragraph before. They begin at random, each for itself. If chains of a model do not
# agree with each other, as those of the second one here, a warning says so: then some of its topics
# are a matter of chance.

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.datasets import load_python_reference
from skdp.feature_extraction import SegmentVectorizer
from skdp.topics import AdaptiveTopicModel, SegmentedTopicModel

reference = load_python_reference()
sections = [section for section in reference.data if len(section) >= 10]
titles = [
    title
    for title, section in zip(reference.titles, reference.data, strict=True)
    if len(section) >= 10
]
everywhere = {"example", "following", "python", "section", "use", "used", "using"}
vectorizer = SegmentVectorizer(
    token_pattern="[a-z]{3,}", stop_words=sorted(ENGLISH_STOP_WORDS | everywhere), min_df=3
)
corpus = vectorizer.fit_transform(sections)
words = vectorizer.get_feature_names_out()

settings = {"n_components": 12, "max_iter": 1000, "n_chains": 2, "n_jobs": 2}
segmented = SegmentedTopicModel(**settings, random_state=0).fit(corpus)
adaptive = AdaptiveTopicModel(**settings, random_state=1).fit(corpus)

# %%
# Topic by topic
# --------------
#
# :class:`~skdp.inspection.TopicAlignmentDisplay` matches topics one to one so that the sum of their
# Hellinger distances is as small as can be. A dark cell on the diagonal is a topic that both models
# have. Elsewhere a topic was divided in another way: its words say how.

import matplotlib.pyplot as plt

from skdp.inspection import HellingerDisplay, SegmentMixingDisplay, TopicAlignmentDisplay

figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
alignment = TopicAlignmentDisplay.from_estimators(
    segmented, adaptive, names=("segmented", "adaptive"), include_values=False, ax=ax
)
own = alignment.distances.diagonal()
print("distances of matched topics:", *np.sort(own).round(2))
for name, place in {"most alike": own.argmin(), "least alike": own.argmax()}.items():
    print(f"{name}, distance {own[place]:.2f}:")
    for model, topics in (
        (segmented, alignment.row_topics_),
        (adaptive, alignment.column_topics_),
    ):
        print("   ", ", ".join(model.top_words(words, 8)[topics[place]]))

# %%
# Along a section
# ---------------
#
# Solid lines show how far topics move from a paragraph to the next. If both models have a peak at a
# place, the subject changes there, whatever the topics are called.

i = int(np.argmin([abs(len(section) - 40) for section in sections]))
figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
HellingerDisplay.from_estimator(
    segmented, corpus, document=i, to="previous", name="segmented", ax=ax
)
HellingerDisplay.from_estimator(adaptive, corpus, document=i, to="previous", name="adaptive", ax=ax)
ax.set(title=titles[i], xlabel="paragraph")
ax.legend(loc="upper right", frameon=False)
figure.savefig("two_models.png", dpi=100)

# %%
# What a paragraph follows
# ------------------------
#
# The adaptive model also tells where each paragraph has its topics from: how much from the section
# as a whole, and how much from the paragraph before. A short paragraph says little about that, so
# most weights stay near the prior mean.

figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
SegmentMixingDisplay.from_estimator(adaptive, corpus, document=i, ax=ax)
ax.set(title=titles[i], xlabel="paragraph")
figure.savefig("two_models_mixing.png", dpi=100)
