"""Does the level of sections help? Presidents and their addresses; modules and their classes.

"sotu": documents are presidents, sections their State of the Union addresses, segments paragraphs.
"code": documents are modules of Python's standard library, sections their classes, and segments the
methods; words are parts of names, and words of docstrings and comments. The functions of a module
are another section.

One fifth of the documents is held out, with all of their sections; half of the words of each
segment are scored given the others (document completion), the same words for all models:

- SectionedTopicModel of documents;
- SegmentedTopicModel of documents, without sections;
- SegmentedTopicModel of sections;
- SectionedTopicModel of sections, with one section each, as a control.

Usage: sections.py {sotu,code} FOLDER [--topics 50] [--sweeps 300] [--seeds 1] [--folds 2]

FOLDER holds the data of `sotu.py`; for "code" it is the folder of the library's modules.
"""

import argparse
import ast
import keyword
import re
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from sotu import read_records, words_of

from skdp.data import SegmentedCorpus
from skdp.topics import SectionedTopicModel, SegmentedTopicModel

_OMITTED = {"test", "tests", "site-packages", "lib2to3", "encodings", "pydoc_data", "turtledemo"}
"""Folders of the library that are not read."""


def read_addresses(folder):
    """Return sections of paragraphs of words by president, and the vocabulary."""
    presidents = defaultdict(list)
    for record in read_records(Path(folder, "topics", "sotu.jsonl")):
        presidents[record["president"]].append([words_of(text) for text in record["segments"]])
    return presidents, Path(folder, "topics", "vocab_sotu.txt").read_text().split()


def read_modules(folder):
    """Return sections of methods of words by module, and the words of at least five modules."""
    modules = {}
    for path in sorted(Path(folder).rglob("*.py")):
        if _OMITTED & {*path.parts}:
            continue
        source = path.read_text("utf-8")
        lines = source.split("\n")
        sections, functions = [], []
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                sections.append([words_of_code(lines, each) for each in methods])
            elif isinstance(node, ast.FunctionDef):
                functions.append(words_of_code(lines, node))
        modules[str(path)] = [*sections, functions]
    occurs = Counter(
        word
        for document in modules.values()
        for word in {word for section in document for segment in section for word in segment}
    )
    return modules, sorted(word for word, n in occurs.items() if n >= 5)


def words_of_code(lines, node):
    """Return the words of a function: parts of names, comments, docstrings; no keywords."""
    text = re.sub("([a-z])([A-Z])", r"\1 \2", "\n".join(lines[node.lineno - 1 : node.end_lineno]))
    return [w for w in words_of(text.replace("_", " ")) if w not in {*keyword.kwlist, "self"}]


def split(documents, vocabulary, fold):
    """Return training and test documents as corpora of sections of segments."""
    index = {word: i for i, word in enumerate(vocabulary)}
    found = {}
    for name, sections in documents.items():
        kept = [
            [ids for segment in section if (ids := [index[w] for w in segment if w in index])]
            for section in sections
        ]
        if any(kept):
            found[name] = [section for section in kept if section]
    names = np.random.default_rng(0).permutation(sorted(found))
    is_test = np.arange(len(names)) % 5 == fold
    return (
        SegmentedCorpus.from_documents([found[name] for name in chosen], len(vocabulary))
        for chosen in (names[~is_test], names[is_test])
    )


def without_sections(corpus):
    return SegmentedCorpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr, corpus.n_features)


def of_sections(corpus):
    return SegmentedCorpus(corpus.tokens, corpus.segment_ptr, corpus.part_ptr, corpus.n_features)


MODELS = {
    "sections": (SectionedTopicModel, lambda corpus: corpus),
    "documents": (SegmentedTopicModel, without_sections),
    "sections alone": (SegmentedTopicModel, of_sections),
    "one section each": (SectionedTopicModel, of_sections),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", choices=["sotu", "code"])
    parser.add_argument("folder")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--sweeps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--discount", default="0.0")
    parser.add_argument("--folds", type=int, default=2)
    options = parser.parse_args()
    discount = options.discount if options.discount == "auto" else float(options.discount)
    read = {"sotu": read_addresses, "code": read_modules}[options.data]
    for fold in range(options.folds):
        train, test = split(*read(options.folder), fold)
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
