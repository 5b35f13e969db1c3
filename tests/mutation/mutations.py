"""All wrong patches, and those that change nothing."""

from mutation import (
    chain_mutations,
    factorial_mutations,
    grammar_mutations,
    likelihood_mutations,
    process_mutations,
    refinement_mutations,
    sequence_mutations,
    topic_mutations,
    variational_mutations,
)

_MODULES = (
    topic_mutations,
    process_mutations,
    chain_mutations,
    likelihood_mutations,
    sequence_mutations,
    factorial_mutations,
    grammar_mutations,
    variational_mutations,
    refinement_mutations,
)

MUTATIONS = [mutation for module in _MODULES for mutation in module.MUTATIONS]

# Patches that choose another way of doing the same: the exact test must stay green.
EQUIVALENTS = topic_mutations.EQUIVALENTS
