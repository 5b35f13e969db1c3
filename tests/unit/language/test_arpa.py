"""Names of words in ARPA files."""

import pytest

from skdp.language._ngram._arpa import check_names


def test_a_repeated_name_is_named():
    names = [f"w{i}" for i in range(30_000)]
    assert check_names(names, len(names)) == names
    with pytest.raises(ValueError, match="'w7' names two words"):
        check_names([*names[:-1], "w7"], len(names))
