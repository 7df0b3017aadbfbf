"""Judges validated against people."""
