"""Machines as trees: switches above nodes, packages, caches and cores below."""
