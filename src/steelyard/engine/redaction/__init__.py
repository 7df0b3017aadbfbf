"""Keeps secrets and personal data out of everything that is written."""
