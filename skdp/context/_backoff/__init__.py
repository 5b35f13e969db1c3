"""Back-off: trees of contexts, broad ones above narrow ones, and what models of them say."""
