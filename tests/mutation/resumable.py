"""Wrong patches of fits that go on."""

from mutation.mutation import Mutation

CHECKPOINTS = "tests/unit/topics/test_partitioned_checkpoints.py"

MUTATIONS = [
    Mutation(
        "interrupts-write-what-is-used-up",
        "_resumable.py",
        """                        for checkpoint in self._checkpoints():
                            checkpoint._save(self)  # before what is shown is used up
                        is_shown = is_interrupt and self._show_what_there_is(saved)
""",
        """                        is_shown = is_interrupt and self._show_what_there_is(saved)
                        for checkpoint in self._checkpoints():
                            checkpoint._save(self)  # before what is shown is used up
""",
        "Showing divides sums in place.",
        f"{CHECKPOINTS}::test_after_an_interrupt",
    ),
]
