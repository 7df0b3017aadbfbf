"""Review queues: people answer the items of a run with one rubric, blind and side by side."""
