"""Conversions between contracts and from the formats of other tools."""
