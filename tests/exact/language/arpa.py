r"""A reader of back-off models in ARPA's format, as strict as the format is.

    \data\
    ngram 1=3
    ngram 2=2

    \1-grams:
    log10 p <tab> word [<tab> log10 back-off weight]
    ...
    \2-grams:
    log10 p <tab> word word
    ...
    \end\
"""

import re
from dataclasses import dataclass

Ngram = tuple[str, ...]

BEFORE, HEAD, END = -2, -1, 0  # parts of a file; the section of n-grams is n


@dataclass(frozen=True)
class Arpa:
    """Log10 probabilities and back-off weights of n-grams, tuples of words in reading order."""

    order: int
    probabilities: dict[Ngram, float]
    weights: dict[Ngram, float]

    def log10_probability(self, context: tuple[str, ...], word: str) -> float:
        """Return log10 p(word | context); KeyError if there is no such word."""
        context = tuple(context)[max(0, len(context) + 1 - self.order) :]
        if (*context, word) in self.probabilities:
            return self.probabilities[(*context, word)]
        if not context:
            raise KeyError(word)
        return self.weights.get(context, 0.0) + self.log10_probability(context[1:], word)

    def log10_events(self, words: list[str], end: bool = True) -> list[float]:
        """Return log10 p of each word after <s> and those before it, and of </s>."""
        history = ["<s>"]
        result = []
        for word in [*words, "</s>"] if end else words:
            result.append(self.log10_probability(tuple(history), word))
            history.append(word)
        return result


def read_arpa(text: str) -> Arpa:
    """Return the model of a text; ValueError says which line is wrong."""
    probabilities: dict[Ngram, float] = {}
    weights: dict[Ngram, float] = {}
    announced: dict[int, int] = {}
    found: dict[int, int] = {}
    section = BEFORE
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if section == END and line.strip():
            raise ValueError(f"line {number}: text after \\end\\")
        if section == BEFORE:
            section = HEAD if line == "\\data\\" else section
        elif not line.strip():
            continue
        elif line == "\\end\\":
            section = END
        elif head := re.fullmatch(r"\\(\d+)-grams:", line):
            section = int(head[1])
            if section != len(found) + 1:
                raise ValueError(f"line {number}: sections are to be 1, 2, ...")
            found[section] = 0
        elif section == HEAD:
            if not (count := re.fullmatch(r"ngram (\d+)=(\d+)", line)):
                raise ValueError(f"line {number}: not a count of n-grams")
            announced[int(count[1])] = int(count[2])
        else:
            ngram, probability, weight = _entry(line, number, section, max(announced))
            if ngram in probabilities:
                raise ValueError(f"line {number}: {' '.join(ngram)} again")
            probabilities[ngram] = probability
            if weight is not None:
                weights[ngram] = weight
            found[section] += 1
    if section != END:
        raise ValueError("no \\end\\")
    if found != announced:
        raise ValueError(f"the head announces {announced}, but there are {found}")
    missing = [ngram for ngram in probabilities if len(ngram) > 1
               and (ngram[:-1] not in probabilities or ngram[1:] not in probabilities)]  # fmt: skip
    if missing:
        raise ValueError(f"a shorter n-gram of {' '.join(missing[0])} is missing")
    return Arpa(max(found), probabilities, weights)


def _entry(line: str, number: int, n: int, order: int) -> tuple[Ngram, float, float | None]:
    fields = line.split("\t")
    if len(fields) not in ((2,) if n == order else (2, 3)):
        raise ValueError(f"line {number}: {len(fields)} fields between tabs")
    ngram = tuple(fields[1].split(" "))
    if len(ngram) != n or not all(ngram) or any(word != word.strip() for word in ngram):
        raise ValueError(f"line {number}: not {n} words")
    probability = float(fields[0])
    if not probability <= 0.0:
        raise ValueError(f"line {number}: a probability above 1")
    weight = float(fields[2]) if len(fields) == 3 else None
    if weight is not None and not abs(weight) < float("inf"):
        raise ValueError(f"line {number}: a back-off weight that is no number")
    return ngram, probability, weight
