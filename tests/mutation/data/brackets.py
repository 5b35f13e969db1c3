"""Wrong patches of how bracketed text is read."""

from mutation.mutation import Mutation

MUTATIONS = [
    Mutation(
        "brackets-square-ones-as-they-are",
        "data/_brackets.py",
        '"[": "-LSB-", "]": "-RSB-", ',
        "",
        "All brackets have names in treebanks.",
        "tests/unit/data/test_brackets.py::test_words_as_in_treebanks[f[x]-f-LSB-x-RSB-]",
    ),
    Mutation(
        "brackets-empty-ones-are-dropped",
        "data/_brackets.py",
        "hollow = number if labels else 0",
        "hollow = 0",
        "An empty bracket is alone in the outermost one.",
        "tests/unit/data/test_read_trees.py::test_empty_inner_brackets[first]",
    ),
    Mutation(
        "brackets-label-of-the-root",
        "data/_brackets.py",
        "items.append((root_label, n_children))",
        'items.append(("ROOT", n_children))',
        "The root has the label that is given.",
        "tests/unit/data/test_read_trees.py::test_several_trees_in_the_outermost_bracket",
    ),
]
