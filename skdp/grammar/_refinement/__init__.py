"""Refinements of treebank grammars: trees, ascents and parser."""
