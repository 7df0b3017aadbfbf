"""Traces from elsewhere: received, read from files, assembled, and frozen to be judged."""
