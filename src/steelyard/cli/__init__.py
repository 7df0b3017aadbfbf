"""One module per command: options, one use case, an exit code and text."""
