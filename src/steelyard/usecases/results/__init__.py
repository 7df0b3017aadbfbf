"""Finished runs: read, compare, gate, export, verify."""
