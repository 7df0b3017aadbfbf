"""Operating a project: readiness, figures, back-up and restore."""
