"""Runs: plan, create, execute, resume, cancel, derive, prune."""
