"""Back-ups of a project, and their restoration."""
