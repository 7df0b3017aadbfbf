"""Users, keys and sessions: who may do what, and how that is known."""
