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

_WORD = re.compile("[a-z]{3,}")


def load(folder: str) -> tuple[SegmentedCorpus, SegmentedCorpus, list[str]]:
    """Return the training corpus, the test corpus and the vocabulary."""
    path = Path(folder, "topics")
    vocabulary = path.joinpath("vocab_sotu.txt").read_text().split()
    index = {word: i for i, word in enumerate(vocabulary)}
    split = json.loads(path.joinpath("split_sotu.json").read_text())

    def ids(paragraph: str) -> list[int]:
        text = paragraph.lower().replace("'s", "").replace("’s", "")
        words = (word for word in _WORD.findall(text) if word not in ENGLISH_STOP_WORDS)
        return [index[word] for word in words if word in index]

    with path.joinpath("sotu.jsonl").open() as lines:
        documents = {
            record["id"]: [tokens for tokens in map(ids, record["segments"]) if tokens]
            for record in map(json.loads, lines)
        }
    train, test = (
        SegmentedCorpus.from_documents([documents[i] for i in split[part]], len(vocabulary))
        for part in ("train", "test")
    )
    return train, test, vocabulary
