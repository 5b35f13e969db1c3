"""Wrong patches of the probabilities of lexicalized trees."""

from mutation.mutation import Mutation

MODEL = "context/_lexicalized_event_model.py"
HAND = "tests/unit/context/test_lexicalized_event_model.py"
EXACT = "tests/exact/context/test_lexicalized_events.py"

MUTATIONS = [
    Mutation(
        "events-model-without-words",
        MODEL,
        "            total += np.bincount(events.tree_index, logs, trees.n_trees)",
        '            if event != "mod2":\n'
        "                total += np.bincount(events.tree_index, logs, trees.n_trees)",
        "The words of modifiers are events, too.",
        f"{EXACT}::test_probability_of_every_tree",
    ),
    Mutation(
        "events-model-without-stop",
        MODEL,
        "    events = trees.extract(event)",
        "    events = trees.extract(event, stop=False)",
        "Without STOP the probabilities of trees sum to more than 1.",
        f"{HAND}::test_probability_of_a_tree_by_hand",
    ),
    Mutation(
        "events-model-unknown-outcomes-for-free",
        MODEL,
        "logs = np.full(len(y), -np.inf)",
        "logs = np.zeros(len(y))",
        "What no classifier knows is impossible to the model, not certain.",
        f"{HAND}::test_outcomes_that_no_classifier_knows",
    ),
    Mutation(
        "events-model-all-levels",
        MODEL,
        "own.set_params(levels=events.levels)",
        "own.set_params(levels=[[i] for i in range(events.X.shape[1])])",
        "Columns of a level stand together.",
        f"{HAND}::test_levels_are_those_of_the_events",
    ),
    Mutation(
        "events-model-one-tree",
        MODEL,
        "np.bincount(events.tree_index, logs, trees.n_trees)",
        "np.full(trees.n_trees, logs.sum())",
        "A tree has its own events.",
        f"{HAND}::test_scores",
    ),
]
