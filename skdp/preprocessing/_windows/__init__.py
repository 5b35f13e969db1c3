"""Windows of sequences and their features."""
