"""Projects of promptfoo: prompts, tests, assertions and providers."""
