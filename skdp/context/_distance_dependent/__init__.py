"""The sampler of `DistanceDependentCRPClassifier`, and what its samples say of new contexts."""
