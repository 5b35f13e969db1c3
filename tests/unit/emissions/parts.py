"""Observations in parts."""

from skdp._executors._base import add_changes


class Parts:
    """Observations in parts; sequences begin with them."""

    def __init__(self, parts):
        self.parts = parts
        self.n_features = parts[0].shape[1]

    def sum(self, f, *args):
        return add_changes(*(f(part, *args) for part in self.parts))
