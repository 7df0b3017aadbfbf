"""Pages of datasets, rubrics, judges, suites and targets."""
