"""Refinements of treebank grammars: trees, messages, updates and parser."""
