"""Names of words in ARPA files."""

import time

import pytest

from skdp.language._ngram._arpa import check_names


def test_one_repeated_name_among_many_is_found_at_once():
    names = [f"w{i}" for i in range(30_000)]
    begin = time.process_time()
    assert check_names(names, len(names)) == names
    with pytest.raises(ValueError, match="'w7' names two words"):
        check_names([*names[:-1], "w7"], len(names))
    assert time.process_time() - begin < 5.0
