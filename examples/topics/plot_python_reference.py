"""
Topics of the Python language reference
=======================================

Every Python installation includes the language reference for ``help()``: about 75 sections of
prose, each a sequence of paragraphs. A segmented topic model finds their topics, section by section
and paragraph by paragraph. Nothing is downloaded.
"""

# %%
# From text to word ids
# ---------------------
#
# A document is a list of paragraphs. :class:`~skdp.feature_extraction.SegmentVectorizer` keeps them
# apart and finds words as scikit-learn's ``CountVectorizer`` does. Here words are runs of at least
# three letters that occur in at least three sections and are not stop words.

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.datasets import load_python_reference
from skdp.feature_extraction import SegmentVectorizer

reference = load_python_reference()
everywhere = {"example", "following", "python", "section", "use", "used", "using"}
vectorizer = SegmentVectorizer(
    token_pattern="[a-z]{3,}",
    stop_words=sorted(ENGLISH_STOP_WORDS | everywhere),
    min_df=3,
)
corpus = vectorizer.fit_transform(reference.data)
print(corpus)

# %%
# Fourteen topics
# ---------------
#
# Everything but the number of topics is learned: how common each topic is, how peaked topics are,
# and the concentration, which measures how closely paragraphs keep to the topics of their section.
# Of four chains, the one with the highest mean log joint probability is used.

from skdp.topics import SegmentedTopicModel

model = SegmentedTopicModel(14, max_iter=1000, n_chains=4, n_jobs=2, random_state=0)
model.fit(corpus)

words = vectorizer.get_feature_names_out()
print(model.summary(words))
print(f"concentration {model.concentration_:.2f}")

# %%
# Along a section
# ---------------
#
# The section on the standard types covers them one after the other, from numbers, strings,
# sequences and functions to classes, modules, stack frames and tracebacks, so the subject changes
# from paragraph to paragraph. The section on compound statements keeps only the paragraphs that it
# does not share with a shorter section. Most of them describe the ``match`` statement, and the
# topics hardly change. Shares are means of five paragraphs, which makes the lines readable.

import matplotlib.pyplot as plt

from skdp.inspection import TopicEvolutionDisplay

figure, axes = plt.subplots(2, figsize=(11, 7), layout="constrained")
for ax, name in zip(axes, ["types", "compound"], strict=True):
    i = reference.names.index(name)
    TopicEvolutionDisplay.from_estimator(
        model, corpus, document=i, feature_names=words, smooth=5, ax=ax
    )
    ax.set(title=reference.titles[i], xlabel="paragraph")
figure.savefig("python_reference_topics.png", dpi=100)
print("The figure is in python_reference_topics.png.")

# %%
# A page of all topics and sections, for readers who have a browser but no Python.

from skdp.inspection import topic_report

page = topic_report(
    model, corpus, "python_reference.html", feature_names=words, titles=reference.titles
)
print(f"The page is in {page}.")
