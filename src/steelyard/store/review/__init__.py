"""Review queues in the database."""
