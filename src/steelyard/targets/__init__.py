"""Adapters to what produces responses: endpoints, callables, recordings."""
