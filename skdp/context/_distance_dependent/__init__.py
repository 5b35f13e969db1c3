"""Sampler of `DistanceDependentCRPClassifier`, and predictions from its samples."""
