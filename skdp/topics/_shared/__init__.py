"""Code shared by all topic models: chains, word counts, fold-in, completion, likelihood."""
