"""Tables whose columns have scalar distributions of several kinds, in clusters."""
