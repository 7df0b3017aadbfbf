"""Manifests of runs, with what a test does not care about filled in."""

from __future__ import annotations

import json
from typing import Any

from steelyard.model.json_value import JsonObject
from steelyard.results.manifest import Manifest, read_manifest


def manifest_row(**changes: Any) -> JsonObject:
    """The least that a manifest has; options are changed one by one."""
    options = {"dataset": "qa.json", "responses": None, **changes.pop("options", {})}
    known: JsonObject = {
        "run_id": "run_01",
        "status": "completed",
        "created_at": "2026-01-15T10:20:20.400+00:00",
        "started_at": "2026-01-15T10:20:21.400+00:00",
        "completed_at": "2026-01-15T10:20:30.400+00:00",
        "states": [{"state": "completed", "at": "2026-01-15T10:20:30.400+00:00"}],
        "dataset_id": "qa",
        "dataset_version": "1.0",
        "schema_version": "1.0",
        "contract": "dataset_document",
        "source": {"qa.json": "ab" * 32},
        "targets": {"live": {"provider": "echo"}},
        "rubrics": [],
        "judges": [],
        "options": options,
        "derived_from": None,
        "harness": {"name": "steelyard", "version": "0.1.0"},
        "environment": {"python": "3.11.7"},
        "artifacts": {"predictions.jsonl": {"sha256": "cd" * 32, "size": 12345}},
        "redaction": {"secrets": 0, "patterns": {}},
        "manifest_sha256": "ef" * 32,
    }
    return {**known, **changes}


def manifest(**changes: Any) -> Manifest:
    """The same, as it is read."""
    return read_manifest(json.dumps(manifest_row(**changes)).encode())
