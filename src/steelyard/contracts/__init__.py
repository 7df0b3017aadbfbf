"""One package per contract: its schema, its reader, its writer."""
