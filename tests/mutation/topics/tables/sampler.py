"""Wrong patches of what moves the state of table models."""

from mutation.mutation import Mutation

DISCOUNTS = "tests/exact/topics/test_discount.py"
SCOPES = "tests/exact/topics/test_concentration_scope.py"
LEARNED = "tests/unit/topics/test_adaptive.py::TestLearnedMixingPrior"

TABLE_SAMPLER = "topics/_tables/_sampler.py"

LABEL_TESTS = "tests/exact/topics/test_labels.py"

MUTATIONS = [
    Mutation(
        "concentrations-averaged",
        TABLE_SAMPLER,
        "np.repeat(self.concentration[first:last], np.diff(own)),",
        "np.full(own[-1] - own[0], self.concentration.mean()),",
        "Kernels take each segment's own concentration.",
        f"{SCOPES}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented-unequal segments]",
    ),
    Mutation(
        "discount-keeps-its-weights",
        TABLE_SAMPLER,
        "        self.discount = draw_bounded_beta(p, q, stream)\n        self._make_ratios()\n",
        "        self.discount = draw_bounded_beta(p, q, stream)\n",
        "The ratios of Stirling numbers follow the discount.",
        f"{DISCOUNTS}::test_log_joint_of_estimated_hyper_parameters[btigs-segmented]",
    ),
    Mutation(
        "mixing-prior-of-first-segments",
        TABLE_SAMPLER,
        "later = corpus.part_begin < np.arange(len(corpus.part_begin))",
        "later = np.ones(len(corpus.part_begin), dtype=bool)",
        "The first segment of a part has one parent: its tables say nothing of weights.",
        f"{LEARNED}::test_it_is_where_the_posterior_given_the_tables_has_its_maximum",
    ),
    Mutation(
        "mixing-prior-of-one-parent",
        TABLE_SAMPLER,
        "np.column_stack([state.segment_tables, state.segment_to_previous])[later]",
        "np.column_stack([state.segment_to_previous, state.segment_tables])[later]",
        "lambda_S is for the document.",
        f"{LEARNED}::test_it_is_where_the_posterior_given_the_tables_has_its_maximum",
    ),
    Mutation(
        "shares-of-tables-outside-labels",
        "topics/_tables/_sampler.py",
        "                segment_topic += allowed.of_segments(n_segments).restrict(of_segments)\n",
        "                segment_topic += of_segments\n",
        "Another word of the segment has no topic outside the set of its document.",
        f"{LABEL_TESTS}::test_states_of_table_models[False-random]",
    ),
]
