"""Bytes to values with their lines, and values against a JSON Schema; knows no contract."""
