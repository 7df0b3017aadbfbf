"""A record with its trace, checks, judgements and attempts."""
