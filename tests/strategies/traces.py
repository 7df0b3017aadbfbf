"""Traces in which an assistant says one thing."""

from __future__ import annotations

from steelyard.model.message import Message
from steelyard.model.trace import Trace


def said(text: str, latency_ms: float | None = None) -> Trace:
    message = Message(role="assistant", content=text)
    return Trace(messages=(message,), latency_ms=latency_ms)
