"""Contract 4's check rubric: a versioned, named composition of checks."""
