"""People's labels: assign, import, export, agreement."""
