"""The Python client of a Steelyard server; it needs no project."""
