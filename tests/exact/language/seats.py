"""Seats of samplers and of stored samples of strings, in the terms of the oracles."""

from collections import Counter
from itertools import pairwise

from exact.language import collocations, nested
from exact.language.franchise import BEGIN
from exact.language.nested import END

CUSTOMERS, TABLES = 0, 1


def sizes_of(sampler, cell):
    """Return the sizes of the tables of a cell."""
    sizes, entry = [], sampler._f.cells[cell, 2]
    while entry >= 0:
        size, count, entry = sampler._f.entries[entry]
        sizes += [int(size)] * int(count)
    return sizes


def seated(sizes):
    return {cell: of for cell, of in sizes.items() if of}


def contexts_of(parents, letters, alphabet):
    """Return the contexts of nodes, each of which has one letter more than its parent."""
    contexts = []
    for parent, letter in zip(parents, letters, strict=True):
        oldest = BEGIN if letter < 0 else alphabet[letter]
        contexts.append(() if parent < 0 else (oldest, *contexts[parent]))
    return contexts


def letter_sizes(sampler, alphabet):
    """Return the sizes of all tables of letters, by (context, letter)."""
    letters = sampler._layout.letters
    contexts = contexts_of(letters.node_parents, letters.node_letters, alphabet)
    cells = enumerate(zip(letters.nodes, letters.outcomes, strict=True))
    return seated({
        (contexts[u], alphabet[x - 1] if x else END): sizes_of(sampler, cell)
        for cell, (u, x) in cells
    })  # fmt: skip


def spans_of(sampler, text):
    """Return the words that the text may have, in the order of their numbers."""
    numbers = sampler._layout.text
    places = zip(numbers.span_first, numbers.span_lengths, strict=True)
    return [text[first : first + n] for first, n in places]


def word_sizes(sampler, text):
    """Return the sizes of all tables of words in strings, by (context, word)."""
    f, numbers, spans = sampler._f, sampler._layout.text, spans_of(sampler, text)

    def event_of(cell):
        """Return context and word of a cell; a third word's context is that of another cell."""
        node = int(f.cells[cell, 3])
        if cell < numbers.hashed_cell:
            return (), [*spans, END][cell - numbers.root_cell]
        word = event_of(int(f.parents[cell]))[1]
        if node < numbers.pair_node:
            return ([*spans, BEGIN][node - numbers.root_node - 1],), word
        before, last = event_of(node - numbers.pair_node + numbers.hashed_cell)
        return (*before, last), word

    used = [c for c in range(numbers.root_cell, len(f.cells)) if f.cells[c, 3] >= 0]
    return seated({event_of(cell): sizes_of(sampler, cell) for cell in used})


def collocation_sizes(sampler, text):
    """Return the sizes of all tables of collocations, and of words."""
    f, numbers = sampler._f, sampler._layout.text

    def outcome_at(cell):
        i = cell - numbers.hashed_cell - 1
        if i < 0:
            return END
        spans, span = sampler._all_spans, sampler._span_of[i]
        first, m, mask = spans.first[span], spans.lengths[span], int(sampler._masks[i])
        edges = [0, *(j + 1 for j in range(m - 1) if mask >> j & 1), m]
        return tuple(text[first + a : first + b] for a, b in pairwise(edges))

    end = numbers.hashed_cell
    used = [c for c in range(end, len(f.cells)) if c == end or f.cells[c, 3] >= 0]
    words = {
        word: sizes_of(sampler, numbers.root_cell + w)
        for w, word in enumerate(spans_of(sampler, text))
    }
    return seated({outcome_at(cell): sizes_of(sampler, cell) for cell in used}), seated(words)


# --- stored samples -------------------------------------------------------------------------------


def counted(cells, counts):
    """Return the customers and the tables of cells."""
    return tuple(dict(zip(cells, counts[:, k].tolist(), strict=True)) for k in (CUSTOMERS, TABLES))


def letter_counts(sample, alphabet):
    """Return the customers and the tables of letters."""
    contexts = contexts_of(*sample.contexts.T.tolist(), alphabet)
    cells = [(contexts[u], alphabet[x - 1] if x else END) for u, x in sample.letters.of.tolist()]
    return counted(cells, sample.letters.counts)


def as_text(words, alphabet):
    return ["".join(alphabet[x] for x in word) for word in words]


def nested_state(sample, alphabet):
    """Return a stored sample as a state of the nested model."""
    words = as_text(sample.words(), alphabet)
    outcomes, before = [*words, END], [*words, BEGIN]
    pairs = [((before[v],), outcomes[w]) for v, w in sample.pairs.of.tolist()]
    triples = [
        ((*pairs[u][0], pairs[u][1]), outcomes[w]) for u, w in sample.triples.of.tolist()
    ]  # fmt: skip
    of_words = ({}, {})
    for cells, counts in (
        ([((), w) for w in outcomes], sample.root),
        (pairs, sample.pairs.counts),
        (triples, sample.triples.counts),
    ):
        for kind, found in zip(of_words, counted(cells, counts), strict=True):
            kind.update(found)
    return nested.State((), of_words, letter_counts(sample, alphabet), 1.0)


def collocation_state(sample, alphabet):
    """Return a stored sample as a state of the model of collocations."""
    found = [tuple(as_text(words, alphabet)) for words in sample.collocations()]
    of_collocations = counted([*found, END], sample.counts)
    words = as_text(sample.words(), alphabet)
    of_words = counted(words, sample.of_words.root[:-1])
    letters = letter_counts(sample.of_words, alphabet)
    return collocations.State(
        (), tuple(map(Counter, of_collocations)), tuple(map(Counter, of_words)), letters, 1.0
    )
