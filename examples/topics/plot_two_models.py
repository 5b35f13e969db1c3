"""
Do two models find the same topics?
===================================

A topic model is fitted again, with other random numbers or other assumptions. Which topics are the
same, and do both models describe a document in the same way? The documents are the sections of the
Python language reference (the text of ``help()``) that have ten paragraphs or more.
"""

# %%
# Two fits
# --------
#
# The first model groups the paragraphs of a section. The second one,
# :class:`~skdp.topics.AdaptiveTopicModel`, also uses their order: a paragraph can take its topics
# from the previous paragraph. The fits start at random, independently of each other. If the chains
# of a model disagree, as for the second model here, a warning is issued: some of its topics are
# then a matter of chance.

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
# Hellinger distances is minimal. A dark cell on the diagonal is a topic that both models have.
# Other topics are divided in different ways, which their words show.

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
# Sources of a paragraph's topics
# -------------------------------
#
# The adaptive model also infers the sources of the topics of each paragraph: the weight of the
# section as a whole, and the weight of the previous paragraph. A short paragraph contains little
# information about these weights, so most stay near the prior mean.

figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
SegmentMixingDisplay.from_estimator(adaptive, corpus, document=i, ax=ax)
ax.set(title=titles[i], xlabel="paragraph")
figure.savefig("two_models_mixing.png", dpi=100)
