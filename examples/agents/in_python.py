#!/usr/bin/env python3
"""The agent as a callable: it gets the case and returns a trace."""

from __future__ import annotations

from typing import Any

from desk_agent import run_agent

from steelyard import Case


def ask(case: Case) -> dict[str, Any]:
    """Hand the conversation of a case to the agent."""
    return run_agent([{"role": turn.role, "content": turn.text} for turn in case.input_messages])
