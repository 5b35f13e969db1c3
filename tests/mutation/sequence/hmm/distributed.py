"""Wrong patches of chains over panels in partitions."""

from mutation.mutation import Mutation

FITS = "tests/unit/sequence/test_partitioned_fits.py"
BITS = f"{FITS}::test_bits_are_those_of_the_whole"
MOVES = f"{FITS}::test_states_are_split_and_merged"

MUTATIONS = [
    Mutation(
        "distributed-paths-learn-from-their-partition-alone",
        "sequence/_hmm/_distributed_first_states.py",
        "        self.emission.take(measured[0], sums)\n",
        "        self.emission.condition(self.states)\n",
        "Possible first paths follow the observations of all partitions.",
        "tests/unit/sequence/test_hints.py::TestPossibleTransitions::test_partitions[None-params0]",
    ),
    Mutation(
        "distributed-paths-of-the-first-candidate",
        "sequence/_hmm/_distributed_first_states.py",
        '        self._run("choose", i)\n',
        '        self._run("choose", 0)\n',
        "The most probable of all candidates wins.",
        "tests/unit/sequence/test_hints.py::TestPossibleTransitions::test_partitions[None-params0]",
    ),
    Mutation(
        "partitions-groups-by-local-number",
        "sequence/_hmm/_distributed_moves.py",
        "self._n_states, self._first, self._states = n_states, partition.first_step, chain.states",
        "self._n_states, self._first, self._states = n_states, 0, chain.states",
        "A run has the stream of the number of its last step in the whole panel.",
        f"{MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-windows-of-one-partition",
        "sequence/_hmm/_distributed_moves.py",
        "tuple(i - begin if begin <= i < end else -1 for i in windows)",
        "tuple(i - begin if begin < i < end else -1 for i in windows)",
        "The first window of a partition is one of its windows.",
        f"{MOVES}[gaussian]",
    ),
    Mutation(
        "partitions-first-segments",
        "sequence/_hmm/_distributed_sampler.py",
        "        duration.take(self._found[4:])\n",
        "",
        "Durations are those of the states that were drawn last.",
        f"{BITS}[poisson durations]",
    ),
    Mutation(
        "partitions-old-counts-after-a-move",
        "sequence/_hmm/_distributed_sampler.py",
        "        if has_moved:\n            self._take_counts()\n",
        "",
        "A move changes the states, and all sums.",
        f"{MOVES}[gaussian]",
    ),
]
