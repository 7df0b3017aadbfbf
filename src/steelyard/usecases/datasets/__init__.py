"""Datasets: validate, read, open, publish."""
