"""agentv as a source of a conversion: its results and its targets."""
