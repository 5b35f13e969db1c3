"""Wrong patches of fits that go on."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "interrupts-write-what-is-used-up",
        "_fit/_loop.py",
        """        self.checkpoints.save()  # before what is shown is used up
        if is_interrupt and self.procedure.may_show(self.estimator, self.state):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
""",
        """        if is_interrupt and self.procedure.may_show(self.estimator, self.state):
            self._show(final=self.procedure.is_distributed and not self.estimator.warm_start)
        self.checkpoints.save()  # before what is shown is used up
""",
        "Showing divides sums in place.",
        f"{CHECKPOINTS}::test_after_an_interrupt",
    ),
]
