"""Segmentation of text into words and collocations: layout, samplers and stored samples."""
