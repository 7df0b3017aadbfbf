"""Where things are kept: files of a project on disk."""
