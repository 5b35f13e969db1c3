"""Tools for those who build on skdp."""
