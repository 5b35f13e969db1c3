"""Mixtures of tables: weights of rows, data frames, imputation, and explanations of clusters."""
