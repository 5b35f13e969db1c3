"""Lexicalized trees: their events from the definitions, and all trees that events can generate.

A tree is (label, word) or (label, (child, ...)); the head of a phrase is found by a function of its
label and the labels of its children. An event is its kind, its context by names, and its outcome.
"""

from collections import defaultdict

VERBS = ("VB", "MD", "VERB", "AUX")


def is_tag(tree):
    return isinstance(tree[1], str)


def head_of(tree, find_head):
    """Return the tag and the word at the end of the chain of heads."""
    while not is_tag(tree):
        label, children = tree
        tree = children[find_head(label, [child[0] for child in children])]
    return tree


def has_verb(tree):
    if is_tag(tree):
        return tree[0].startswith(VERBS)
    return any(has_verb(child) for child in tree[1])


def distance(side, between):
    """Return Collins' distance to what comes after the modifiers that stand between."""
    if not between:
        return f"{side},adjacent"
    return f"{side},verb" if any(has_verb(tree) for tree in between) else side


def modifier_contexts(label, head, tag, word, dist):
    """Return the context of a modifier's label and tag."""
    return {"l_p": label, "l_h": head, "dist": dist, "t_h": tag, "w_h": word}


def events_of(tree, find_head, *, stop=True):
    """Return lists of (context, outcome) by kind of event."""
    found = defaultdict(list)
    tag, word = head_of(tree, find_head)
    found["root1"].append(({}, f"{tree[0]} {tag}"))
    found["root2"].append(({"t": tag, "l": tree[0]}, word))
    _visit(tree, find_head, stop, found)
    return dict(found)


def _visit(tree, find_head, stop, found):
    if is_tag(tree):
        return
    label, children = tree
    place = find_head(label, [child[0] for child in children])
    head, (tag, word) = children[place][0], head_of(tree, find_head)
    found["unary"].append(({"l_p": label, "t_h": tag, "w_p": word}, head))
    left = [children[i] for i in range(place - 1, -1, -1)]
    right = [children[i] for i in range(place + 1, len(children))]
    for side, modifiers in (("left", left), ("right", right)):
        for n, modifier in enumerate(modifiers):
            context = modifier_contexts(label, head, tag, word, distance(side, modifiers[:n]))
            own_tag, own_word = head_of(modifier, find_head)
            found["mod1"].append((context, f"{modifier[0]} {own_tag}"))
            found["mod2"].append(({"t": own_tag, "l": modifier[0], **context}, own_word))
        if stop:
            context = modifier_contexts(label, head, tag, word, distance(side, modifiers))
            found["mod1"].append((context, "STOP"))
    for child in children:
        _visit(child, find_head, stop, found)


class Growth:
    """All trees that events generate with at most so many levels and modifiers on a side. `given`
    maps a kind of event and a context to the probabilities of outcomes. Ways to generate a tree
    whose probability falls below `floor` are given up. `find_head` tells which ways count: those in
    which the head of every phrase is the one that it finds."""

    def __init__(self, given, find_head, *, n_modifiers=2, floor=1e-7):
        self.given = given
        self.find_head = find_head
        self.n_modifiers = n_modifiers
        self.floor = floor

    def trees(self, n_levels):
        """Return the probability of every tree."""
        found = defaultdict(float)
        for outcome, p1 in self.given("root1", {}).items():
            label, tag = outcome.split(" ")
            for word, p2 in self.given("root2", {"t": tag, "l": label}).items():
                for tree, p3 in self.below(label, tag, word, n_levels, p1 * p2):
                    found[tree] += p3
        return dict(found)

    def below(self, label, tag, word, n_levels, p):
        """Yield the trees with a root and its head, and p times their probability."""
        if label == tag:
            yield (tag, word), p
            return
        if n_levels == 0:
            return
        for head, p1 in self.given("unary", {"l_p": label, "t_h": tag, "w_p": word}).items():
            if p * p1 < self.floor:
                continue
            for tree, p2 in self.below(head, tag, word, n_levels - 1, p * p1):
                at = (label, head, tag, word)
                for left, p3 in self.side("left", at, n_levels, (), p2):
                    for right, p4 in self.side("right", at, n_levels, (), p3):
                        children = (*left[::-1], tree, *right)
                        if self.find_head(label, [child[0] for child in children]) == len(left):
                            yield (label, children), p4

    def side(self, side, at, n_levels, before, p):
        """Yield the modifiers of one side, from the head outwards."""
        context = modifier_contexts(*at, distance(side, before))
        for outcome, p1 in self.given("mod1", context).items():
            if p * p1 < self.floor:
                continue
            if outcome == "STOP":
                yield before, p * p1
                continue
            if len(before) == self.n_modifiers:
                continue
            label, tag = outcome.split(" ")
            for word, p2 in self.given("mod2", {"t": tag, "l": label, **context}).items():
                for tree, p3 in self.below(label, tag, word, n_levels - 1, p * p1 * p2):
                    yield from self.side(side, at, n_levels, (*before, tree), p3)
