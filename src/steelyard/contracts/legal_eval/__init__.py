"""Contract 1: rows of rubric, reference and multiple-choice questions in JSONL."""
