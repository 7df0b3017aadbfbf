"""The service, its users and keys, and commands that talk to a server."""
