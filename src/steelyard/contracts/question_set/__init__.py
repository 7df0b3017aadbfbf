"""Contract 4's dataset: questions that name the rubric they are graded by."""
