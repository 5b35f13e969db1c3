"""The executor of this process, and the tree in which changes are summed."""

import operator
import threading
import time
from functools import reduce
from typing import NamedTuple

import numpy as np
import pytest

from skdp._executors import LocalExecutor, choose_executor
from skdp.data import PartitionedSentences, TokenSequences

SENTENCES = TokenSequences.from_sequences([[i] * (i % 3 + 1) for i in range(20)])
PARTS = PartitionedSentences.from_sentences(SENTENCES, 20)._parts


class Sentence(NamedTuple):
    """The state of a partition."""

    sentences: TokenSequences

    def change(self, factor):
        i = int(self.sentences.tokens[0])
        return factor / (i + 1.0), np.full(2, 0.1 * i), i

    def refuse(self):
        raise ValueError(f"not {self.sentences.tokens[0]}")


def add(values):
    """Return the sum from the first to the last; Python's own is more exact from 3.12."""
    return reduce(operator.add, values)


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_four_verbs(n_jobs):
    with LocalExecutor(n_jobs) as executor:
        executor.place(PARTS, Sentence)
        factor = executor.share(0.3)
        calls = [executor.call(s, "change", factor) for s in range(20)]
        found = executor.results(calls)
        assert [each[2] for each in found] == list(range(20))
        total = executor.sum(calls)
    # Groups of eight from the first to the last, then their sums.
    values = [each[0] for each in found]
    by_groups = add([add(values[i : i + 8]) for i in (0, 8, 16)])
    assert total[0] == by_groups != add(values)
    assert total[2] == sum(range(20))
    assert executor._states == []
    with pytest.raises(RuntimeError):
        executor._pool.submit(len, [])


def test_errors_pass():
    with LocalExecutor(2) as executor:
        executor.place(PARTS, Sentence)
        with pytest.raises(ValueError, match="not 3"):
            executor.results([executor.call(3, "refuse")])
        with pytest.raises(ValueError, match="not 5"):
            executor.sum([executor.call(5, "refuse"), executor.call(6, "refuse")])


def test_no_thread_is_at_work_after_an_error():
    begun, ended = threading.Event(), []

    class Worker:
        def __init__(self, sentences):
            pass

        def work(self):
            begun.set()
            time.sleep(0.1)
            ended.append(True)

        def fail(self):
            assert begun.wait(10)
            raise ValueError("failed")

    with LocalExecutor(2) as executor:
        executor.place(PARTS, Worker)
        calls = [executor.call(0, "fail"), executor.call(1, "work"), executor.call(2, "work")]
        with pytest.raises(ValueError, match="failed"):
            executor.results(calls)
        n_ended = len(ended)
        assert calls[1].done()
    assert n_ended == len(ended) > 0


def test_it_is_the_default():
    with choose_executor(2) as executor:
        assert isinstance(executor, LocalExecutor)
