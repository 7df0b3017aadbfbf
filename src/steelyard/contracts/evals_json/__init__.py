"""`evals.json` files: prompts with inline checks, contract 4's first ancestor."""
