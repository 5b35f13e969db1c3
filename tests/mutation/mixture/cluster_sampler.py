"""Wrong patches: what the samplers of mixtures have in common."""

from mutation.mutation import Mutation

WALKER = "mixture/_cluster_sampler.py"

MUTATIONS = [
    Mutation(
        "mixture-start-hears-no-interrupt",
        WALKER,
        "            check_interrupts()\n",
        "",
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
]
