"""Contract 5: eval cases in YAML, or in JSONL with a sidecar."""
