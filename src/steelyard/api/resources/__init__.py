"""The resources of the API: one module each, thin over the verbs."""
