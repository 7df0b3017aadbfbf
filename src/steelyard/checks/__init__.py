"""One module per deterministic kind of check."""
