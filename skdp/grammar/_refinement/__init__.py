"""Refinements of treebank grammars: trees, messages, updates, parser."""
