"""Write a run for other tools, one module a format."""
