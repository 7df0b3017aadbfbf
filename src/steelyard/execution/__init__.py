"""Executes a planned run: work items, workers, sealing; only the run use cases import it."""
