"""The HTTP API: one module per resource, each a list of operations over the verbs of use cases."""
