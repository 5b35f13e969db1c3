"""Back-off models on trees of contexts, from broad to narrow, and explanations of predictions."""
