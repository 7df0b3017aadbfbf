"""What a run leaves behind, as typed values."""
