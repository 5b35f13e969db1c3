"""A process stays with a family of tests, and what needs all families comes last."""

import pytest
from schedule import family, next_file

TOPICS = "tests/unit/topics/shared/test_priors.py"
SEQUENCE = "tests/exact/sequence/test_log_joint.py"
EMISSIONS = "tests/unit/emissions/test_gaussian.py"
GRAMMAR = "tests/common/test_grammar_estimators.py"
DATA = "tests/unit/data/test_containers.py"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (TOPICS, "topics"),
        (SEQUENCE, "sequence"),
        (EMISSIONS, "sequence"),
        (GRAMMAR, "grammar"),
        ("tests/unit/mixture/test_partition.py", "mixture"),
        ("tests/common/test_mixture_estimators.py", "mixture"),
        ("tests/exact/context/test_links.py", "context"),
        ("tests/common/test_context_estimators.py", "context"),
        (DATA, ""),
        ("tests/common/test_docs.py", ""),
    ],
)
def test_families(file, expected):
    assert family(file) == expected


@pytest.mark.parametrize(
    ("files", "mine", "theirs", "expected"),
    [
        ({DATA: 900, GRAMMAR: 2, TOPICS: 5}, "", [], TOPICS),
        ({DATA: 900, GRAMMAR: 2, TOPICS: 5}, "", ["topics"], GRAMMAR),
        ({DATA: 900, GRAMMAR: 2, TOPICS: 5}, "grammar", ["topics"], GRAMMAR),
        ({DATA: 900, EMISSIONS: 2, TOPICS: 5, SEQUENCE: 4}, "", [""], EMISSIONS),
        ({DATA: 900, TOPICS: 5}, "grammar", ["topics"], DATA),
        ({TOPICS: 5}, "", ["topics"], TOPICS),
        ({DATA: 1}, "", [""], DATA),
    ],
)
def test_next_file(files, mine, theirs, expected):
    assert next_file(files, mine, theirs) == expected
