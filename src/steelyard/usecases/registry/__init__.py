"""Rubrics, judges and datasets by reference: publish, find, fix, compare versions."""
