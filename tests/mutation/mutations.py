"""All wrong patches, and those that change nothing."""

from mutation import factorial_mutations, sequence_mutations, topic_mutations

MUTATIONS = [
    *topic_mutations.MUTATIONS,
    *sequence_mutations.MUTATIONS,
    *factorial_mutations.MUTATIONS,
]

# Patches that choose another way of doing the same: the exact test must stay green.
EQUIVALENTS = topic_mutations.EQUIVALENTS
