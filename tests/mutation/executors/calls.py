"""Wrong patches of calls of a few tasks at a time."""

from mutation.mutation import Mutation

TESTS = "tests/unit/executors/test_calls.py"

CALLS = "_executors/_calls.py"

MUTATIONS = [
    Mutation(
        "calls-one-after-the-other",
        CALLS,
        "ThreadPoolExecutor(n_threads)",
        "ThreadPoolExecutor(1)",
        "Tasks run at the same time.",
        f"{TESTS}::test_tasks_run_at_the_same_time_and_come_back_in_order",
    ),
    Mutation(
        "calls-threads-in-place-of-processes",
        CALLS,
        "if type(backend) is ThreadingBackend:",
        "if backend is not None:",
        "Other backends are used as they are.",
        f"{TESTS}::test_a_backend_of_processes_is_used_unless_memory_is_shared",
    ),
]
