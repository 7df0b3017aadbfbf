"""Users, keys and sessions in the database."""
