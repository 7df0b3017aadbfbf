"""Feature folders: their verbs are what the command line, the API and the pages call."""
