"""What people say about responses."""
