"""Wrong patches: what the samplers of mixtures have in common."""

from mutation.mutation import Mutation

LABELS = "tests/exact/mixture/test_labels.py"
FITS_WITH_LABELS = "tests/unit/mixture/test_labels.py"
WALKER = "mixture/_cluster_sampler.py"

MUTATIONS = [
    Mutation(
        "mixture-start-hears-no-interrupt",
        WALKER,
        "check_interrupts()\n                part.sweep()\n            self._take_part",
        "part.sweep()\n            self._take_part",
        "The first rows take seconds.",
        "tests/unit/mixture/test_blocked.py::test_the_start_can_be_interrupted[collapsed]",
    ),
    Mutation(
        "mixture-rows-keep-the-first-prior",
        WALKER,
        "            if self.emission.prior is not before:\n                self._take_prior()\n",
        "",
        "Rows choose their clusters under the scale that was drawn.",
        "tests/exact/mixture/test_partitions.py::test_drawn_scale[MixtureSampler]",
    ),
    Mutation(
        "mixture-start-forgets-the-scale",
        WALKER,
        "            self.emission.prior = part.emission.prior\n",
        "",
        "The others join what the first rows have found.",
        "tests/unit/mixture/test_mixtures.py::test_many_rows_begin_with_some[blocked]",
    ),
    Mutation(
        "mixture-few-rows-begin-with-one-cluster",
        WALKER,
        "            if best is None or mean > highest:",
        "            if best is None:",
        "A chain from one cluster does not find three.",
        "tests/unit/mixture/test_mixtures.py::TestFewRows::test_three_clusters[0]",
    ),
    Mutation(
        "mixture-given-clusters-under-the-scale-of-all-rows",
        WALKER,
        "            self.emission.fit_shared(self.labels, self.n_clusters, rng)\n",
        "",
        "Under the scale of all rows, clusters are merged.",
        "tests/unit/mixture/test_mixtures.py::TestFewRows::test_given_clusters_stay",
    ),
    Mutation(
        "mixture-labels-drawn-in-sweeps",
        WALKER,
        "        self._seat(self._free, self.stream)\n        if self._is_augmented",
        "        self._seat(self._order, self.stream)\n        if self._is_augmented",
        "Sweeps leave labeled rows where they are.",
        f"{LABELS}::test_partitions_of_one_label[both]",
    ),
    Mutation(
        "mixture-labels-forgotten-by-k-means",
        WALKER,
        "            labels = restrict_partition(labels, self.known)\n",
        "",
        "A start may not contradict the labels: no sweep would move their rows.",
        f"{FITS_WITH_LABELS}::test_labels_overrule_the_start_of_few_rows",
    ),
    Mutation(
        "gaps-of-labeled-rows-stay",
        "mixture/_cluster_sampler.py",
        "            self._draw_latent(np.flatnonzero(self._pinned), self.stream)\n",
        "            pass\n",
        "Rows with labels have no other step that draws their missing values.",
        "tests/exact/mixture/test_gaps.py::test_partitions_with_labels[y1]",
    ),
    Mutation(
        "gaps-copies-share-missing-values",
        "mixture/_cluster_sampler.py",
        "            other._terms = other.emission.cluster_terms()\n",
        "            pass\n",
        "The representative partition is computed without effect on the chain.",
        "tests/unit/mixture/test_gaps.py::test_a_resumed_fit_equals_a_straight_one"
        "[DPMixture-gaussian]",
    ),
    Mutation(
        "alike-columns-have-several-clusters",
        WALKER,
        "return np.zeros_like(self.labels) if self.is_single else self.labels",
        "return self.labels",
        "No clusters are shown by fewer than two columns.",
        "tests/exact/mixture/test_alike_columns.py::test_partitions_and_columns[MixtureSampler]",
    ),
    Mutation(
        "alike-columns-join-known-clusters",
        WALKER,
        "return self.known is None and not getattr",
        "return not getattr",
        "Rows with different known labels stay apart.",
        "tests/unit/mixture/test_mixed_columns.py::test_clusters_with_known_labels_are_not_joined",
    ),
    Mutation(
        "alike-columns-of-the-last-sweep",
        WALKER,
        "        if not self._is_augmented and not self._may_be_alike:\n",
        "        if not self._is_augmented:\n",
        "The columns that differ are drawn given the representative partition.",
        "tests/unit/mixture/test_mixed_columns.py::test_columns_of_the_representative_partition",
    ),
    Mutation(
        "alike-columns-begin-with-all-rows",
        WALKER,
        "possible = _STAGES if self._may_be_alike else _STAGES[1:]",
        "possible = _STAGES[1:]",
        "With many rows, a partition that fits noise is stable.",
        "tests/unit/mixture/test_mixed_columns.py::test_many_rows_with_nothing_to_find",
    ),
]
