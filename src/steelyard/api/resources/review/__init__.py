"""Review queues over HTTP."""
