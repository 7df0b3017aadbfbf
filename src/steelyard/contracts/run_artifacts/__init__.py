"""What a run leaves behind: results to the rows of contract 2's artifacts, and their names."""
