"""Labels: what people said about records, as rows of JSONL."""
