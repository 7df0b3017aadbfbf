"""Contract 2: one JSON document with a header and records."""
