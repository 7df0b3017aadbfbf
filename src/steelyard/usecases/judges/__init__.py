"""Validation of judges against human labels."""
