"""Wrong patches of fits by Markov chains."""

from mutation.mutation import Mutation

FITS = "tests/unit/fit/test_loop.py::TestInterruption"

MUTATIONS = [
    Mutation(
        "interrupts-of-the-burn-in-replace-a-fit",
        "_fit/_sampling.py",
        "        if estimator.__sklearn_is_fitted__():\n            return False\n",
        "",
        "A state of the burn-in is worth less than the result of an earlier fit.",
        f"{FITS}::test_before_anything_is_kept_the_last_fit_stays",
    ),
    Mutation(
        "warm-starts-keep-their-threads",
        "_fit/_sampling.py",
        "            run.sampler.n_jobs = self._n_jobs_of_chain\n",
        "            pass\n",
        "A warm start may have another n_jobs.",
        "tests/unit/fit/test_sampling.py::test_sweeps_of_a_warm_start_have_its_threads",
    ),
]
