"""Numbers to numbers: intervals and summaries, each with its method and its reason."""
