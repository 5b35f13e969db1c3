"""Samplers of partitions of rows, and of features of rows."""
