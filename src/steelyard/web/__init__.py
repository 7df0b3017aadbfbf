"""The web: one module per page family, server-rendered."""
