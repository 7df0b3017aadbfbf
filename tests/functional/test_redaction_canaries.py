"""Canaries of every kind are planted wherever somebody can write, and sing nowhere afterwards."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fakes.canaries import CANARIES
from fakes.many_commands import run_many
from servers.openai_server import COMPLETION, serving
from steelyard.settings import REDACTED_KINDS as KINDS

SECRETS = {
    "CANARY_KEY": "the-configured-key-8931",
    "CANARY_HEADER": "Head Value!",
    "CANARY_TOKEN": "an argument, 4417",
}
PLANTED = [text for texts in CANARIES.values() for text in texts]
EVERYTHING = [*PLANTED, *SECRETS.values()]
SETTINGS = """\
targets:
  live:
    provider: openai
    base_url: "{url}"
    model: m
    api_key_env: CANARY_KEY
    headers: {{x-tenant: "${{CANARY_HEADER}}"}}
  tool:
    provider: command
    command:
      - sh
      - -c
      - echo At nine, $0; case $1 in *refuse*) echo $0 >&2; exit 3; esac
      - "${{CANARY_TOKEN}}"
      - "{{PROMPT}}"
retry: {{backoff_s: [0, 0]}}
slices: [tags, metadata.owner]
redaction: {{patterns: {patterns}}}
"""
COMMANDS = (
    ("run", "cases.jsonl", "--target", "tool"),
    ("run", "cases.jsonl", "--target", "live", "--format", "junit"),
    ("run", "cases.jsonl", "--target", "live"),
    ("show", "latest"),
    ("show", "latest", "0", "--format", "json"),
    ("show", "latest", "1"),
    ("export", "latest", "--to", "csv"),
    ("run", "document.json", "--target", "live", "--rubric", "any", "--format", "json"),
    ("verify", "latest"),
    ("report", "latest", "-o", "out/report.html"),
    ("export", "latest", "-o", "out/rows.jsonl"),
    ("regrade", "latest", "--rubric", "any"),
    ("runs", "--format", "json"),
)
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: says_nine, kind: must_contain_any, phrases: [nine]}]
scoring: {combine: all_pass}
"""


async def answer(request: web.Request) -> web.StreamResponse:
    """All canaries in an answer, or in the body of an error."""
    asked = json.dumps(await request.json(), ensure_ascii=False)
    song = " ; ".join(EVERYTHING)
    if "refuse" in asked:
        return web.json_response({"error": {"message": song}}, status=400)
    message = {
        "role": "assistant",
        "content": f"At nine. {song}",
        "tool_calls": [
            {"id": "1", "function": {"name": "f", "arguments": json.dumps({"song": song})}}
        ],
    }
    return web.json_response({**COMPLETION, "choices": [{"message": message}]})


def cases() -> list[dict[str, Any]]:
    """Records that have a canary in every place, and one that is refused."""
    made: list[dict[str, Any]] = [
        {
            "id": text,
            "conversation_id": text,
            "expected_outcome": f"Says {text}.",
            "input": f"Repeat {text}" if place else f"refuse {text}",
            "evaluators": [
                {"name": f"says {text}", "type": "contains", "value": text},
                {"name": f"also {text}", "type": "equals", "value": text},
            ],
            "tags": [text],
            "metadata": {"owner": text, text: text},
        }
        for place, text in enumerate(EVERYTHING)
    ]
    return [*made, {"id": f"no case {'; '.join(PLANTED)}"}]


def document() -> dict[str, Any]:
    records = [
        {
            "record_id": f"r{place}",
            "input": {"prompt": f"Repeat {text}" if place else f"refuse {text}"},
            "tags": [text],
            "metadata": {"owner": text},
        }
        for place, text in enumerate(EVERYTHING)
    ]
    head = {"dataset_id": CANARIES["key"][6], "dataset_version": "1", "schema_version": "1.0"}
    return {**head, "metadata": {"about": EVERYTHING}, "records": records}


def write_project(root: Path, url: str, patterns: str) -> None:
    (root / "rubrics").mkdir()
    (root / "out").mkdir()
    lines = "".join(json.dumps(case) + "\n" for case in cases())
    for name, text in (
        ("steelyard.yaml", SETTINGS.format(url=url, patterns=patterns)),
        ("rubrics/any.yaml", RUBRIC),
        ("cases.jsonl", lines),
        ("document.json", json.dumps(document())),
    ):
        (root / name).write_text(text, encoding="utf-8")


def sung(data: bytes) -> list[str]:
    """The canaries that are in what was written, in whatever form."""
    return [
        text
        for text in EVERYTHING
        for form in (text, json.dumps(text)[1:-1], json.dumps(json.dumps(text))[3:-3])
        if form.encode() in data
    ]


async def resolve_rubric(
    root: Path, patterns: str, commands: Sequence[Sequence[str]]
) -> dict[str, bytes]:
    """What every command said on its streams."""
    async with serving(answer) as url:
        write_project(root, url, patterns)
        done = await asyncio.to_thread(run_many, root, commands)
    said: dict[str, bytes] = {}
    for place, (words, one) in enumerate(zip(commands, done, strict=True)):
        assert one.code in {0, 4}, one.stderr
        said[f"{place} {words[0]} stdout"] = one.stdout.encode()
        said[f"{place} {words[0]} stderr"] = one.stderr.encode()
    return said


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def written(root: Path) -> dict[str, bytes]:
    """Everything that is on the disk because of Steelyard."""
    kept = [*(root / ".steelyard").rglob("*"), *(root / "out").rglob("*")]
    return {str(path.relative_to(root)): path.read_bytes() for path in kept if path.is_file()}


@pytest.mark.trials
def test_no_canary_sings_in_anything_that_was_written_or_said(tmp_path: Path) -> None:
    said = asyncio.run(resolve_rubric(tmp_path, f"[{', '.join(KINDS)}]", COMMANDS))
    found = {**said, **written(tmp_path)}
    manifests = [
        json.loads(data) for name, data in found.items() if name.endswith("manifest.json")
    ]

    assert len(found) > 4 * 8
    assert manifests
    assert {name: sung(data) for name, data in found.items() if sung(data)} == {}
    for manifest in manifests:
        assert manifest["redaction"]["version"] == "3"
        assert all(manifest["redaction"]["patterns"].values())
        assert manifest["redaction"]["secrets"] > 0


@pytest.mark.parametrize("patterns", [pytest.param("[]", marks=pytest.mark.trials), "[card]"])
def test_what_is_not_chosen_stays(tmp_path: Path, patterns: str) -> None:
    """Which also shows that the canaries were planted where they can be heard."""
    asyncio.run(resolve_rubric(tmp_path, patterns, COMMANDS[:1]))
    found = written(tmp_path)
    data = b"".join(found.values())
    cards = set(CANARIES["card"])

    assert not set(sung(data)) & set(SECRETS.values())
    assert set(PLANTED) - set(sung(data)) == (cards if "card" in patterns else set())
