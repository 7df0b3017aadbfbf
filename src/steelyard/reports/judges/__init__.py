"""Judges beside people: agreement, validation, correction."""
