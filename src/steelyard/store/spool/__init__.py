"""Private files that wait for their run: posted datasets and the inputs of queued runs."""
