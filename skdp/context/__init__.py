"""Classifiers of outcomes in context: columns of categories, back-off and similarity learnt."""

__all__: list[str] = []
