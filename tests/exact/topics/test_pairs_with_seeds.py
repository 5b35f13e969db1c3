"""Pairs of topics for splits and merges, some of them with seeds: small biases need long chains."""

import pytest
from exact.topics import test_inferred_topics as inferred


@pytest.mark.slow
def test_pairs(monkeypatch):
    check = inferred.check
    monkeypatch.setattr(inferred, "check", lambda *args: check(*args[:2], 60_000))
    inferred.test_moves_with_seeds("hdp", True, monkeypatch)
