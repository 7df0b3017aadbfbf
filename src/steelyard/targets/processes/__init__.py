"""Programs as targets and graders, in bounded processes."""
