"""What all topic models share: chains, words by topic, fold-in, completion, likelihood."""
