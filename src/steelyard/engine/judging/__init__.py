"""Asks the judges of a run about its answers."""
