"""Wrong patches of the sampler of hidden Markov models."""

from mutation.mutation import Mutation

WALKER = "sequence/_hmm/_sampler.py"

MUTATIONS = [
    Mutation(
        "emission-similarity-old-rates",
        WALKER,
        "            transitions.redraw_rates(rng)\n",
        "",
        "Rates were summed out when phi was drawn: those of before know the old one.",
        "tests/unit/sequence/similarities/test_emission.py"
        "::test_rates_are_drawn_given_the_new_similarities",
    ),
    Mutation(
        "emission-similarity-joint-without-parameters",
        WALKER,
        "result += emission.log_posterior()",
        "result += 0.0",
        "Parameters that phi depends on are not summed out.",
        "tests/exact/sequence/test_log_joint.py::test_log_joint_with_similarities_of_observations",
    ),
    Mutation(
        "known-states-are-drawn",
        WALKER,
        "            self._known.clamp(self._log_obs)\n",
        "            pass\n",
        "Known states stay in every sweep.",
        "tests/unit/sequence/test_hints.py::TestKnownStates::test_no_sweep_changes_them",
    ),
    Mutation(
        "symbols-concentration-not-held",
        "sequence/_hmm/_sampler.py",
        "self.emission.held = self.n_frozen > 0",
        "self.emission.held = False",
        "Random states, which all have all symbols, call for a large concentration.",
        "tests/unit/emissions/test_categorical.py::test_the_sampler_holds_the_concentration",
    ),
    Mutation(
        "left-out-sequences-with-parameters-of-a-later-sweep",
        WALKER,
        "tuple(part.copy() for part in emission.parameters())",
        "emission.parameters()",
        "The arrays are the sampler's own, which the next sweep overwrites.",
        "tests/unit/sequence/test_to_arviz.py::test_drawn_parameters_are_not_overwritten",
    ),
    Mutation(
        "given-states-under-the-scale-of-one-state",
        "sequence/_hmm/_sampler.py",
        'if getattr(emission, "needs_settling", False):',
        "if False:",
        "Under the scale of all steps, states are merged.",
        "tests/unit/sequence/hmm/test_initial_split_merge.py::"
        "TestThreeStepsPerColumn::test_given_states_stay",
    ),
]
