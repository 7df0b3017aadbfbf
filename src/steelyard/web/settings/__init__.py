"""Pages of users, keys and the audit log."""
