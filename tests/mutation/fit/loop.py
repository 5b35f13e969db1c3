"""Wrong patches of fits that go on."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"
LOOP = "_fit/_loop.py"
FITS = "tests/unit/fit/test_loop.py::TestInterruption"

MUTATIONS = [
    Mutation(
        "interrupts-write-what-is-used-up",
        LOOP,
        """        self.checkpoints.save()  # before the shown results are used up
        if is_interrupt and self.procedure.may_show(self.estimator, self.state):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
""",
        """        if is_interrupt and self.procedure.may_show(self.estimator, self.state):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
        self.checkpoints.save()  # before the shown results are used up
""",
        "Showing divides sums in place.",
        f"{CHECKPOINTS}::test_after_an_interrupt",
    ),
    Mutation(
        "errors-within-a-sweep-leave-whole-runs",
        LOOP,
        "state.is_torn = procedure.steps_in_place",
        "state.is_torn = False",
        "Half a sweep is no state of the chain.",
        "tests/unit/callback/test_checkpoint.py::TestFits::test_after_an_error[segmented]",
    ),
    Mutation(
        "features-of-a-failed-fit-stay",
        LOOP,
        "            if not self._is_shown:\n",
        "            if False:\n",
        "The last fit's topics do not go with the words of another X.",
        f"{FITS}::test_before_anything_is_kept_the_last_fit_stays",
    ),
]
