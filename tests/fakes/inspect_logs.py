"""Logs as Inspect AI writes them, small."""

from __future__ import annotations

import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

EVAL: dict[str, Any] = {
    "eval_id": "e1",
    "created": "2026-01-15T10:00:00+00:00",
    "task": "loans",
    "model": "openai/m-1",
    "dataset": {"name": "loans", "samples": 2},
}
SAMPLE: dict[str, Any] = {
    "id": "q1",
    "epoch": 1,
    "input": "How long may I keep a book?",
    "target": "three weeks",
    "messages": [
        {"id": "m1", "role": "system", "content": "You are a librarian.", "source": "input"},
        {"id": "m2", "role": "user", "content": "How long may I keep a book?"},
        {
            "id": "m3",
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "Look it up.", "signature": None},
                {"type": "text", "text": "One moment."},
            ],
            "tool_calls": [
                {"id": "c1", "function": "look_up", "arguments": {"what": "loan"}, "type": "f"}
            ],
        },
        {
            "id": "m4",
            "role": "tool",
            "tool_call_id": "c1",
            "function": "look_up",
            "content": [{"type": "text", "text": "21 days"}],
        },
        {"id": "m5", "role": "assistant", "content": "Three weeks.", "model": "m-1"},
    ],
    "output": {
        "model": "m-1-2026",
        "choices": [{"message": {"role": "assistant"}, "stop_reason": "stop"}],
        "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
    },
    "scores": {"match": {"value": "C"}},
    "metadata": {"topic": "loans"},
    "store": {},
    "events": [{"event": "model"}],
    "model_usage": {"openai/m-1": {"input_tokens": 40, "output_tokens": 12, "total_tokens": 52}},
    "total_time": 1.5,
    "working_time": 0.75,
    "attachments": {},
}


def sample(**changes: Any) -> dict[str, Any]:
    """The sample with other values; None takes a field away."""
    merged = {**SAMPLE, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def write_json(path: Path, *samples: dict[str, Any], **changes: Any) -> Path:
    """A log in one JSON document."""
    log = {"version": 2, "status": "success", "eval": EVAL, "samples": list(samples), **changes}
    path.write_text(json.dumps(log), encoding="utf-8")
    return path


def write_zip(path: Path, *samples: dict[str, Any], **header: Any) -> Path:
    """A log as `.eval`, with the compression that every Python can read."""
    head = {"version": 2, "status": "success", "eval": EVAL, **header}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": EVAL}))
        for one in samples:
            name = f"samples/{one.get('id')}_epoch_{one.get('epoch', 1)}.json"
            archive.writestr(name, json.dumps(one))
        archive.writestr("summaries.json", "[]")
        if head.get("eval"):
            archive.writestr("header.json", json.dumps(head))
    return path


def as_zstandard(path: Path) -> Path:
    """The same log with the compression of newer ones, which is not Python's own."""
    compress: Any = import_module("zstandard").ZstdCompressor().compress
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    packed = {name: compress(data) for name, data in members.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in packed.items():
            archive.writestr(name, data)
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        places = [(info, len(members[info.filename])) for info in archive.infolist()]
        directory = archive.start_dir
    at = directory
    for info, size in places:
        for start, method, length in ((info.header_offset, 8, 22), (at, 10, 24)):
            whole[start + method : start + method + 2] = (93).to_bytes(2, "little")
            whole[start + length : start + length + 4] = size.to_bytes(4, "little")
        at += 46 + len(info.filename.encode()) + len(info.extra) + len(info.comment)
    path.write_bytes(bytes(whole))
    return path
