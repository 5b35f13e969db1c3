"""Wrong patches of the events of lexicalized trees."""

from mutation.mutation import Mutation

EVENTS = "context/_events.py"
HAND = "tests/unit/context/test_events.py"
EXACT = "tests/exact/context/test_lexicalized_events.py"

RANDOM = f"{EXACT}::test_events_of_trees[True-table]"

MUTATIONS = [
    Mutation(
        "events-distance-after-the-modifier",
        EVENTS,
        """                rows.append((number, offset + modifier, *at_head, dist))
                passed_verb = passed_verb or has_verb[modifier]
                dist = f"{side},verb" if passed_verb else side
""",
        """                passed_verb = passed_verb or has_verb[modifier]
                dist = f"{side},verb" if passed_verb else side
                rows.append((number, offset + modifier, *at_head, dist))
""",
        "The distance is what stands between the head and the modifier, which is not between.",
        RANDOM,
    ),
    Mutation(
        "events-no-stop-on-the-left",
        EVENTS,
        "            if stop:\n",
        '            if stop and side == "right":\n',
        "Modifiers end on both sides, or the product is no distribution.",
        RANDOM,
    ),
    Mutation(
        "events-never-adjacent",
        EVENTS,
        'dist = f"{side},adjacent"',
        "dist = side",
        "The first modifier is adjacent to the head.",
        RANDOM,
    ),
    Mutation(
        "events-verb-of-the-last-modifier-only",
        EVENTS,
        "passed_verb = passed_verb or has_verb[modifier]",
        "passed_verb = has_verb[modifier]",
        "A verb in any constituent between counts.",
        RANDOM,
    ),
    Mutation(
        "events-verb-of-tags-only",
        EVENTS,
        "        if has_verb[node] and (parent := tree.parents[node]) >= 0:",
        "        if has_verb[node] and (parent := tree.parents[node]) < -1:",
        "A verb may be anywhere in a constituent.",
        RANDOM,
    ),
    Mutation(
        "events-left-side-from-the-outside",
        EVENTS,
        "children[:place][::-1]",
        "children[:place]",
        "Modifiers are generated from the head outwards.",
        RANDOM,
    ),
    Mutation(
        "events-head-of-the-parent",
        EVENTS,
        '"h": "head"}',
        '"h": "parent"}',
        "l_h is the label of the head child.",
        RANDOM,
    ),
    Mutation(
        "events-printed-level-of-mod1",
        EVENTS,
        '(("l_p", "s"), ("l_h", "s_p", "s_h", "dist"), ("t_h", "sa_m", "sa_p", "sa_h"), ("w_h",))',
        '(("l_p", "s"), ("l_h", "s_p", "s_h", "dist"), ("t_h", "sa_m", "sa_p", "sa_p"), ("w_h",))',
        "Table 2.1 prints sa_p twice; the second is sa_h.",
        f"{HAND}::test_levels_with_annotations[mod1]",
    ),
    Mutation(
        "events-stop-twice",
        EVENTS,
        'may_stop = outcome == (_SEMANTIC if self._has_semantics else ("l", "t"))',
        'may_stop = outcome in (_SEMANTIC, ("l", "t"))',
        "With annotations modifiers end before they have a label.",
        f"{HAND}::test_annotated_by_hand",
    ),
    Mutation(
        "events-stop-of-words",
        EVENTS,
        'may_stop = outcome == (_SEMANTIC if self._has_semantics else ("l", "t"))',
        "may_stop = True",
        "STOP has no word.",
        RANDOM,
    ),
    Mutation(
        "events-offsets-of-trees",
        EVENTS,
        "zip(self.trees, self._offsets, strict=False)",
        "zip(self.trees, self._offsets[:1] * len(self.trees), strict=True)",
        "Nodes of all trees are numbered through.",
        f"{HAND}::test_several_trees",
    ),
]
