"""Plan, ask with retries, grade, keep, aggregate; deterministic given clock and seed."""
