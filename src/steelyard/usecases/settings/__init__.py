"""Suites and targets that are kept in the store, beside those of the project file."""
