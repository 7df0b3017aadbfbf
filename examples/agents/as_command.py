#!/usr/bin/env python3
"""The agent as a command: a request as JSON on standard input, a trace on standard output."""

from __future__ import annotations

import json
import sys

from desk_agent import run_agent

request = json.load(sys.stdin)
json.dump(run_agent(request["messages"]), sys.stdout)
