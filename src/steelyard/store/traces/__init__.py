"""Trace sets in the database."""
