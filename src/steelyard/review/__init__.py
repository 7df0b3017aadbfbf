"""Annotation: how far people and judges agree, and which records to look at next."""
