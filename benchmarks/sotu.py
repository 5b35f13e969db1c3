"""State of the Union addresses: the corpus and the protocol of the benchmarks on topic models.

Tokens: lower case, ``'s`` stripped, runs of at least three letters, without scikit-learn's English
stop words; the vocabulary is given with the data (words in at least five training addresses), other
tokens and empty paragraphs are dropped.
"""

import json
import re
from pathlib import Path

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdp.data import SegmentedCorpus
from skdp.feature_extraction._text import SEGMENTERS

_WORD = re.compile("[a-z]{3,}")


def words_of(text: str) -> list[str]:
    """Return the words of a paragraph or sentence, of any vocabulary."""
    text = text.lower().replace("'s", "").replace("’s", "")
    return [word for word in _WORD.findall(text) if word not in ENGLISH_STOP_WORDS]


def read_records(path: str | Path) -> list[dict]:
    """Return the documents of a jsonl file: id, title, segments (paragraphs), ..."""
    with Path(path).open() as lines:
        return [json.loads(line) for line in lines]


def load(
    folder: str, unit: str = "paragraph"
) -> tuple[SegmentedCorpus, SegmentedCorpus, list[str]]:
    """Return the training corpus, the test corpus and the vocabulary.

    Segments are paragraphs, or with `unit` "sentence" their sentences.
    """
    path = Path(folder, "topics")
    vocabulary = path.joinpath("vocab_sotu.txt").read_text().split()
    index = {word: i for i, word in enumerate(vocabulary)}
    split = json.loads(path.joinpath("split_sotu.json").read_text())

    def ids(text: str) -> list[int]:
        return [index[word] for word in words_of(text) if word in index]

    documents = {}
    for record in read_records(path / "sotu.jsonl"):
        texts = record["segments"]
        if unit != "paragraph":
            texts = [piece for text in texts for piece in SEGMENTERS[unit](text)]
        documents[record["id"]] = [tokens for tokens in map(ids, texts) if tokens]
    train, test = (
        SegmentedCorpus.from_documents([documents[i] for i in split[part]], len(vocabulary))
        for part in ("train", "test")
    )
    return train, test, vocabulary
