"""Suites and targets in the store, in addition to those of the project file."""
