"""How fast a fit to partitions goes, in words."""

import pytest

from skdp._executors import Throughput


@pytest.fixture
def clock(monkeypatch):
    times = []
    monkeypatch.setattr("skdp._executors._distributed.perf_counter", lambda: times.pop(0))
    return times


def test_since_the_last_line(clock):
    clock += [10.0, 14.0, 15.0]
    throughput = Throughput(8, 3_000_000, "tokens", "sweep")
    throughput.begin(0, 0)
    assert throughput.describe(2, 20, 5_000_000) == (
        "8 partitions, 1.5 million tokens a second, 2.5 MB a sweep, 40 s left"
    )
    assert throughput.describe(22, 0, 5_000_000) == (
        "8 partitions, 60 million tokens a second, 0 MB a sweep"
    )


@pytest.mark.parametrize(
    ("n_left", "expected"), [(119, "119 s"), (120, "2 min"), (7_199, "120 min"), (9_000, "2.5 h")]
)
def test_what_is_left(n_left, expected, clock):
    clock += [0.0, 1.0]
    throughput = Throughput(1, 1, "tokens", "sweep")
    throughput.begin(0, 0)
    assert throughput.describe(1, n_left, 0).endswith(f" a second, {expected} left")
