"""Does the level of sections help? State of the Union addresses by president.

Documents are presidents, sections their addresses, segments the paragraphs. One fifth of the
presidents is held out, with all of their addresses; half of the words of each of their paragraphs
are scored given the others (document completion), the same words for all models:

- SectionedTopicModel of presidents;
- SegmentedTopicModel of presidents, without addresses;
- SegmentedTopicModel of addresses, the usual choice;
- SectionedTopicModel of addresses with one section each, as a control.

Usage: sections.py FOLDER [--topics 50] [--sweeps 400] [--seeds 2] [--discount 0.0]
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from sotu import read_records, words_of

from skdp.data import SegmentedCorpus
from skdp.topics import SectionedTopicModel, SegmentedTopicModel


def load(folder, fold):
    """Return the training and test presidents as corpora of sections of paragraphs."""
    path = Path(folder, "topics")
    vocabulary = path.joinpath("vocab_sotu.txt").read_text().split()
    index = {word: i for i, word in enumerate(vocabulary)}
    presidents = defaultdict(list)
    for record in read_records(path / "sotu.jsonl"):
        paragraphs = [[index[w] for w in words_of(text) if w in index]
                      for text in record["segments"]]  # fmt: skip
        paragraphs = [paragraph for paragraph in paragraphs if paragraph]
        if paragraphs:
            presidents[record["president"]].append(paragraphs)
    names = np.random.default_rng(0).permutation(sorted(presidents))
    is_test = np.arange(len(names)) % 5 == fold
    return (
        SegmentedCorpus.from_documents([presidents[name] for name in chosen], len(vocabulary))
        for chosen in (names[~is_test], names[is_test])
    )


def without_sections(corpus):
    return SegmentedCorpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, corpus.n_features)


def of_addresses(corpus):
    return SegmentedCorpus(corpus.tokens, corpus.segment_ptr, corpus.part_ptr, corpus.n_features)


MODELS = {
    "sections": (SectionedTopicModel, lambda corpus: corpus),
    "presidents": (SegmentedTopicModel, without_sections),
    "addresses": (SegmentedTopicModel, of_addresses),
    "one section each": (SectionedTopicModel, of_addresses),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--discount", default="0.0")
    parser.add_argument("--folds", type=int, default=2)
    options = parser.parse_args()
    discount = options.discount if options.discount == "auto" else float(options.discount)
    for fold in range(options.folds):
        train, test = load(options.folder, fold)
        print(f"fold {fold}: {train}, {test}", flush=True)
        for seed in range(options.seeds):
            for name, (cls, view) in MODELS.items():
                start = time.process_time()
                model = cls(
                    options.topics, discount=discount, max_iter=options.sweeps, random_state=seed
                ).fit(view(train))
                seconds = time.process_time() - start
                print(
                    f"{name:17s} seed {seed}: perplexity {model.perplexity(view(test)):7.1f}, "
                    f"{seconds:5.1f} s, b {np.round(model.concentration_, 2)}, "
                    f"a {np.round(model.discount_, 3)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
