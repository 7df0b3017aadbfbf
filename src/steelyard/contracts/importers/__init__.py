"""Rows of benchmarks, tables and other tools to rows of the contracts."""
