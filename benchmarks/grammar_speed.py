"""Speed of inside-outside beside plain numpy, expected counts of all rules included.

The yardstick is what one would write with numpy: sentence by sentence and span by span, the sum
over split points as a product of matrices, the rules once a span, the counts of all spans of a
sentence as one product at the end; it sums in plain double precision. Both take turns, so that a
noisy machine slows both. Times are CPU times of the process, one thread; figures are medians.
torch-struct is compared if it and torch are installed.

    python benchmarks/grammar_speed.py
"""

import argparse
import os
import time
from importlib.util import find_spec

import numpy as np
from report import print_header, print_table
from threadpoolctl import threadpool_limits

from skdp.data import TokenSequences
from skdp.grammar._chart._engine import expected_counts, inside, sample_trees, viterbi
from skdp.grammar._chart._paths import RuleWeights

N_WORDS = 1000


def make_weights(n_preterminals, n_constituents):
    """Return a random grammar; None: unpartitioned."""
    rng = np.random.default_rng(0)
    n_emitting = n_constituents if n_preterminals is None else n_preterminals
    n_symbols = n_constituents if n_preterminals is None else n_preterminals + n_constituents
    binary = rng.dirichlet(np.ones(n_symbols**2), n_constituents)
    return RuleWeights(
        np.log(rng.dirichlet(np.ones(n_symbols))),
        np.log(rng.dirichlet(np.ones(N_WORDS), n_emitting)),
        np.log(binary.reshape(n_constituents, n_symbols, n_symbols)),
        n_preterminals,
    )


def make_sentences(lengths):
    rng = np.random.default_rng(0)
    return TokenSequences.from_sequences([rng.integers(N_WORDS, size=n) for n in lengths], N_WORDS)


def plain_counts(words, root, emission, binary, counts):
    """Add the expected binary rules of a sentence, unpartitioned; return its log probability.

    Words' weights are scaled to 1 at most, which is enough for short sentences.
    """
    n, n_symbols = len(words), len(root)
    rules = binary.reshape(n_symbols, -1)
    columns = emission[:, words]
    scale = columns.max(axis=0)
    inside_sums = np.zeros((n, n + 1, n_symbols))
    inside_sums[np.arange(n), np.arange(1, n + 1)] = (columns / scale).T
    spans = [(s, s + length) for length in range(2, n + 1) for s in range(n - length + 1)]
    splits = np.empty((len(spans), n_symbols, n_symbols))
    for k, (s, e) in enumerate(spans):
        np.dot(inside_sums[s, s + 1 : e].T, inside_sums[s + 1 : e, e], out=splits[k])
        inside_sums[s, e] = rules @ splits[k].ravel()
    total = root @ inside_sums[0, n]
    outside_sums = np.zeros_like(inside_sums)
    outside_sums[0, n] = root / total
    for s, e in reversed(spans):
        needs = (outside_sums[s, e] @ rules).reshape(n_symbols, n_symbols)
        outside_sums[s, s + 1 : e] += inside_sums[s + 1 : e, e] @ needs.T
        outside_sums[s + 1 : e, e] += inside_sums[s, s + 1 : e] @ needs
    own = outside_sums[tuple(np.transpose(spans))]
    counts += (own.T @ splits.reshape(len(spans), -1)).reshape(binary.shape) * binary
    return np.log(total) + np.log(scale).sum()


def timed(function):
    begin = time.process_time()
    function()
    return time.process_time() - begin


def print_contest(options):
    """Print the time of a sentence, and how much longer the yardstick takes."""
    rows = []
    for n_symbols, length, n_sentences in ((10, 10, 640), (20, 20, 160), (40, 40, 32)):
        weights = make_weights(None, n_symbols)
        sentences = make_sentences([length] * n_sentences)
        linear = [np.exp(part) for part in weights[:3]]
        n_plain = max(2, n_sentences // 16)
        counts = np.zeros(weights.log_binary.shape)
        found = expected_counts(sentences[:n_plain], weights)  # compiles
        expected_counts(sentences[:1], weights, dtype=np.float32)
        plain = [plain_counts(sentences[i], *linear, counts) for i in range(n_plain)]
        np.testing.assert_allclose(found.log_prob, plain, rtol=1e-10)
        np.testing.assert_allclose(found.binary, counts, rtol=1e-8, atol=1e-12)

        def yardstick(sentences=sentences, linear=linear, counts=counts, n_plain=n_plain):
            for i in range(n_plain):
                plain_counts(sentences[i], *linear, counts)

        def own(dtype, sentences=sentences, weights=weights):
            expected_counts(sentences, weights, dtype=dtype)

        times = np.array(
            [
                [
                    timed(yardstick) / n_plain,
                    timed(lambda: own(np.float64)) / n_sentences,
                    timed(lambda: own(np.float32)) / n_sentences,
                ]
                for _ in range(options.rounds)
            ]
        )
        for name, column in (("float64", 1), ("float32", 2)):
            ratio = np.median(times[:, 0] / times[:, column])
            cells = [f"{np.median(times[:, i]) * 1e3:.3f}" for i in (column, 0)]
            rows.append([n_symbols, length, name, cells[0], cells[1], f"{ratio:.1f}"])
    print_table(["K", "words", "sums in", "ms a sentence", "numpy's", "ratio"], rows)


def print_tasks(options):
    """Print the times of all that the engine does, on 1,000 short sentences."""
    weights = make_weights(10, 10)
    rng = np.random.default_rng(0)
    sentences = make_sentences(rng.integers(5, 13, size=1000))
    streams = rng.integers(1, 2**63, size=(1000, 4)).astype(np.uint64)
    tasks = {
        "expected counts": lambda: expected_counts(sentences, weights),
        "expected counts, float32": lambda: expected_counts(sentences, weights, dtype=np.float32),
        "log probabilities": lambda: inside(sentences, weights),
        "best trees": lambda: viterbi(sentences, weights),
        "drawn trees": lambda: sample_trees(sentences, weights, streams),
    }
    for task in tasks.values():
        task()
    times = {name: [] for name in tasks}
    for _ in range(options.rounds):
        for name, task in tasks.items():
            times[name].append(timed(task))
    rows = [[name, f"{np.median(each) * 1e3:.1f}"] for name, each in times.items()]
    print_table(["1,000 sentences of 5 to 12 words, P = C = 10", "ms"], rows)


def print_torch_struct(options):
    """Print the time of torch-struct at 40 symbols and 40 words, if it is there."""
    if not (find_spec("torch") and find_spec("torch_struct")):
        print("torch-struct: not compared, torch and torch_struct are not installed.")
        return
    import torch
    from torch_struct import SentCFG

    torch.set_num_threads(1)
    n, n_words = 20, 40  # 20 preterminals and 20 constituents
    terms = torch.randn(1, n_words, n).log_softmax(-1).requires_grad_()
    rules = torch.randn(1, n, 2 * n, 2 * n).requires_grad_()
    roots = torch.randn(1, n).log_softmax(-1).requires_grad_()
    lengths = torch.tensor([n_words])

    def run():
        SentCFG((terms, rules, roots), lengths=lengths).partition.sum().backward()

    weights = make_weights(n, n)
    sentences = make_sentences([n_words] * 16)
    run(), expected_counts(sentences, weights)
    theirs = [timed(run) for _ in range(options.rounds)]
    own = [timed(lambda: expected_counts(sentences, weights)) / 16 for _ in range(options.rounds)]
    ratio = np.median(theirs) / np.median(own)
    cells = [f"{np.median(each) * 1e3:.1f}" for each in (own, theirs)]
    print_table(
        ["20 + 20 symbols, 40 words: ms", "torch-struct's", "ratio"], [[*cells, f"{ratio:.0f}"]]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print_header()
    print("load of the machine: " + " ".join(f"{x:.1f}" for x in os.getloadavg()) + "\n")
    with threadpool_limits(1):
        print_contest(options)
        print()
        print_tasks(options)
        print()
        print_torch_struct(options)


if __name__ == "__main__":
    main()
