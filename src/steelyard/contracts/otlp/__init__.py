"""OpenTelemetry's protocol over HTTP: batches of spans as they are sent, and its answers."""
