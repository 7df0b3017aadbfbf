"""What the workers of a run share of its limits, through the process that holds the run."""
