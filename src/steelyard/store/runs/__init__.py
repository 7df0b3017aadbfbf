"""Runs in the database: results, attempts, leases, events."""
