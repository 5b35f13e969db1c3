"""Random parse trees."""

from hypothesis import strategies as st

from skdp.grammar import ParseTree

labels = st.sampled_from("S NP VP X-1 É".split())
words = st.text("ab()é字<&\u00a0\x01", min_size=1, max_size=3)
written_words = st.text("ab-é字\u00a0", min_size=1, max_size=3)


def trees_of(words, labels=labels):
    preterminals = st.builds(lambda label, word: ParseTree(label, [word]), labels, words)
    return st.recursive(
        preterminals,
        lambda below: st.builds(ParseTree, labels, st.lists(below | words, min_size=1, max_size=4)),
        max_leaves=12,
    )


trees = trees_of(words)
written_trees = trees_of(written_words)
