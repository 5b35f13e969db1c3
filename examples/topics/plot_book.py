"""
Topics along a book
===================

A book is a plain-text file, its chapters are documents, and its paragraphs are segments. A topic
model of both shows the subjects of the book, from the first page to the last.

To use your own book, run::

    python examples/topics/plot_book.py book.txt

Chapters begin at headings (see ``--chapter-pattern``), blank lines separate paragraphs, and the
header and footer that Project Gutenberg adds to a book are dropped. Without a file, the book is the
language reference that comes with every Python installation, with its sections as chapters. Nothing
is downloaded.
"""

# %%
# From a file to chapters
# -----------------------
#
# A heading is a line such as ``CHAPTER IV. The Whale``, ``Chapter 4`` or ``IV.`` below a blank one.
# The figure labels a chapter with the group ``name`` of the pattern. Headings with almost no text
# below them belong to a part that begins with a chapter, or to the table of contents. The text
# after the last line of the contents comes before the first chapter and is not a chapter either.

import argparse
import re
from pathlib import Path

HEADING = (
    r"^[ \t]*(?P<word>CHAPTER|Chapter)?[ \t]*(?P<name>[IVXLCDM]+|[0-9]+)(?(word)\b.*|\.[ \t]*)$"
)
GUTENBERG = r"\*\*\* ?{} OF TH(?:E|IS) PROJECT GUTENBERG EBOOK.*"
LEAST_WORDS = 25
"""The smallest number of words in a chapter."""


def read_chapters(path, pattern=HEADING):
    """Return the names and texts of the chapters of a book."""
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    text = "\n".join(line.rstrip() for line in text.splitlines())
    text = re.split(GUTENBERG.format("START"), text, maxsplit=1)[-1]
    text = re.split(GUTENBERG.format("END"), text, maxsplit=1)[0]

    below_blank_line = rf"(?<![^\n]\n)(?:{pattern})"
    headings = list(re.finditer(below_blank_line, text, re.MULTILINE))
    begins = [heading.start() for heading in headings] + [len(text)]
    names, chapters, n_empty = [], [], 0
    for heading, end in zip(headings, begins[1:], strict=True):
        chapter = text[heading.end() : end].strip()
        if len(chapter.split()) < LEAST_WORDS:
            n_empty += 1
            continue
        if n_empty < 3:  # otherwise they were the contents, and this text follows them
            names.append((heading.groupdict().get("name") or heading[0]).strip())
            chapters.append(chapter)
        n_empty = 0
    return names, chapters


parser = argparse.ArgumentParser(description="Draw the topics along a book.")
parser.add_argument("book", nargs="?", help="plain-text file; default: Python's reference")
parser.add_argument(
    "--chapter-pattern",
    default=HEADING,
    help="regular expression of a heading; its group 'name', if any, names the chapter",
)
parser.add_argument("--stop-words", nargs="*", default=[], help="more words to leave out")
parser.add_argument("--n-topics", type=int, default=10)
parser.add_argument("--max-iter", type=int, default=1000, help="sweeps of each of two chains")
parser.add_argument("--output", default="book_topics.png", help="file for the figure")
options = parser.parse_args()

if options.book is None:
    from skdp.datasets import load_python_reference

    reference = load_python_reference()
    names, chapters = reference.names, reference.data
    options.stop_words += ["example", "following", "python", "section", "use", "used", "using"]
else:
    names, chapters = read_chapters(options.book, options.chapter_pattern)
    if len(chapters) < 2:
        parser.error("found fewer than two chapters: describe their headings by --chapter-pattern")

# %%
# Word ids, paragraph by paragraph
# --------------------------------
#
# Words are runs of at least three letters that occur in at least two chapters.

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.feature_extraction import SegmentVectorizer

vectorizer = SegmentVectorizer(
    token_pattern=r"[^\W\d_]{3,}",
    stop_words=sorted(ENGLISH_STOP_WORDS.union(options.stop_words)),
    min_df=2,
)
corpus = vectorizer.fit_transform(chapters)
words = vectorizer.get_feature_names_out()
print(corpus)

# %%
# The topics
# ----------
#
# In the adaptive model, a paragraph takes its topics from its chapter and from the previous
# paragraph, and learns how much to take from each.

from skdp.topics import AdaptiveTopicModel as TopicModel

model = TopicModel(
    options.n_topics, max_iter=options.max_iter, n_chains=2, n_jobs=2, random_state=0
)
model.fit(corpus)

print(model.summary(words))

# %%
# Along the book
# --------------
#
# A single paragraph contains little information, and a plot of a thousand paragraphs is unreadable.
# In the upper plot, every chapter is a column of stacked topic shares, averaged over its
# paragraphs. The lower plot shows how topics change within long chapters: means over a window of
# paragraphs, a hundredth of the book, that does not cross into other chapters. The plots use the
# shares that the chain found for the book, ``segment_topic_``; for a book that was not in the fit,
# use ``from_estimator``.

import matplotlib.pyplot as plt
import numpy as np

from skdp.inspection import TopicEvolutionDisplay

filled = np.diff(corpus.doc_ptr) > 0
begins = corpus.doc_ptr[:-1][filled]
n_paragraphs = np.diff(corpus.doc_ptr)[filled]
chapter_names = np.array(names)[filled]
chapter_topic = np.add.reduceat(model.segment_topic_, begins) / n_paragraphs[:, np.newaxis]
window = 2 * max(4, len(model.segment_topic_) // 200) + 1

labels = [f"{k}: {', '.join(top)}" for k, top in enumerate(model.top_words(words, 4))]
order = {"topic_names": labels, "n_topics": 12, "kind": "step"}
figure, axes = plt.subplots(2, figsize=(13, 8.5), height_ratios=[1.2, 1], layout="constrained")
TopicEvolutionDisplay.from_predictions(chapter_topic, ax=axes[0], **order)
every = -(-len(chapter_names) // 80)
places = np.arange(len(chapter_names))[::every] + 0.5
axes[0].set_xticks(places, chapter_names[::every], rotation=90, fontsize=8)
axes[0].set_xlabel("chapter")
within = TopicEvolutionDisplay.from_predictions(
    model.segment_topic_, boundaries=begins[1:], smooth=window, ax=axes[1], **order
)
within.legend_.remove()
axes[1].set(xlabel="paragraph", ylabel=f"mean of {window} paragraphs")
figure.savefig(options.output, dpi=100)
print(f"The figure is in {options.output}.")
