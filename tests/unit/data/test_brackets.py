import pytest

from skdp.data._brackets import as_in_treebanks


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("(", "-LRB-"),
        ("-rrb-", "-RRB-"),
        ("f[x]", "f-LSB-x-RSB-"),
        ("{}", "-LCB--RCB-"),
        ("\ufeffThe", "The"),
        ("well-known", "well-known"),
        ("-lab-", "-lab-"),
        ("dog", "dog"),
        ("", ""),
    ],
)
def test_words_as_in_treebanks(word, plain):
    assert as_in_treebanks(word) == plain
