#!/usr/bin/env python3
"""The agent as a service: `python3 over_http.py 8099` answers POST requests with a trace."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from desk_agent import run_agent


class Desk(BaseHTTPRequestHandler):
    """Answers every POST."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """A request as JSON in, a trace as JSON out."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"trace": run_agent(request["messages"])}).encode("utf-8")
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing about each request."""


if __name__ == "__main__":
    address = ("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8099)
    with ThreadingHTTPServer(address, Desk) as server:
        sys.stderr.write(f"listening on port {server.server_address[1]}\n")
        server.serve_forever()
