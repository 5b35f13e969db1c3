"""Tools for building on skdp."""
