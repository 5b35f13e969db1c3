"""
Topics of the Python language reference
=======================================

Every Python carries its language reference for ``help()``: about 75 sections of prose, each a
sequence of paragraphs. A segmented topic model finds what they are about, section by section and
paragraph by paragraph. Nothing is downloaded.
"""

# %%
# From text to word ids
# ---------------------
#
# A document is a list of paragraphs. :class:`~skdp.feature_extraction.SegmentVectorizer` keeps them
# apart and counts words as scikit-learn's ``CountVectorizer`` does: here runs of at least three
# letters that occur in at least three sections and are not stop words.

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
# Everything but their number is learnt: how common each topic is, how peaked topics are, and the
# concentration, that is how closely paragraphs keep to the topics of their section. Of four chains
# the one with the highest log joint probability counts.

from skdp.topics import SegmentedTopicModel

model = SegmentedTopicModel(14, max_iter=1000, n_chains=4, n_jobs=2, random_state=0)
model.fit(corpus)

words = vectorizer.get_feature_names_out()
shares = model.doc_topic_.mean(axis=0)
print("topic share  most probable words")
for k, top in sorted(enumerate(model.top_words(words)), key=lambda item: -shares[item[0]]):
    print(f"{k:5d} {shares[k]:5.2f}  {' '.join(top)}")
print(f"concentration {model.concentration_:.2f}")

# %%
# Along a section
# ---------------
#
# The section on the standard types walks through them, from numbers over strings, sequences and
# functions to classes, modules, stack frames and tracebacks: its paragraphs change the subject.
# What is left of the section on compound statements (paragraphs that it shares with a shorter
# section are kept there only) is mostly the ``match`` statement, and stays with it.

import matplotlib.pyplot as plt

from skdp.inspection import TopicEvolutionDisplay

colors = plt.get_cmap("tab20").colors[: model.n_components]
figure, axes = plt.subplots(2, figsize=(11, 7), layout="constrained")
for ax, name in zip(axes, ["types", "compound"], strict=True):
    i = reference.names.index(name)
    TopicEvolutionDisplay.from_estimator(
        model, corpus, document=i, feature_names=words, colors=colors, ax=ax
    )
    ax.set(title=reference.titles[i], xlabel="paragraph")
figure.savefig("python_reference_topics.png", dpi=100)
print("The figure is in python_reference_topics.png.")
