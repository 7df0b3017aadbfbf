"""Pages of runs, comparisons and groups."""
