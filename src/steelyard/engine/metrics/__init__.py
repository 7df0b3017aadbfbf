"""Facts of results to metrics and slices."""
