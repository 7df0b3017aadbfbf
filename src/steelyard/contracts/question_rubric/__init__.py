"""Contract 3: a rubric of questions for people and judges, and the answers to it."""
