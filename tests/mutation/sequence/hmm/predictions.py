"""Wrong patches of the predictions of hidden Markov models."""

from mutation.mutation import Mutation

PREDICTIONS = "sequence/_hmm/_predictions.py"
ORDER = "tests/unit/sequence/test_to_arviz.py::test_order_of_chains"

MUTATIONS = [
    Mutation(
        "left-out-sequences-given-what-they-taught",
        PREDICTIONS,
        "replace(model, emission=model.drawn)",
        "replace(model, emission=model.emission)",
        "Predictive distributions of the next observation are given the sequence itself.",
        ORDER,
    ),
    Mutation(
        "left-out-sequences-with-the-best-chain-first",
        PREDICTIONS,
        "[logs[i] for i in np.argsort(places)]",
        "logs",
        "Scalars of the trace are by chain.",
        ORDER,
    ),
]
