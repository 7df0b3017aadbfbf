"""A run as text, JUnit and HTML."""
