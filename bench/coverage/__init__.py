"""How often 95 % intervals hold the truth: simulated worlds through the functions that print."""
