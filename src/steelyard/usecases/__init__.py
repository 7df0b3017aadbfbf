"""One verb per module; the only door for the command line, the API and the pages."""
