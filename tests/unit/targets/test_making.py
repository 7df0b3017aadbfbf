"""Targets from the project file: what is wrong is told before the first call."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import answer, question
from steelyard.errors import ConfigError
from steelyard.model.case import Case
from steelyard.store.clock import SystemClock
from steelyard.targets.making import Made, TargetMaker

KEY = "sk-canary-1234567890"
LIVE: dict[str, Any] = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m-1"}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two candidates' responses."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    rows = [
        {"record_id": "q1", "response_text": name, "candidate_name": name} for name in ("a", "b")
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "both.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "one.jsonl").write_text(json.dumps(rows[0]), encoding="utf-8")
    return tmp_path


def made(
    root: Path,
    settings: dict[str, Any],
    name: str = "live",
    environ: Mapping[str, str] | None = None,
) -> Made:
    return TargetMaker(root, {"live": settings}, environ or {}, SystemClock()).make(name)


def closed(found: Made) -> Made:
    asyncio.run(found.target.close())
    return found


def refused(root: Path, settings: dict[str, Any], **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        made(root, settings, **options)
    return str(caught.value)


def test_echo_needs_no_project_file(root: Path) -> None:
    found = TargetMaker(root, {}, {}, SystemClock()).make("echo")

    assert answer(found.target, question("hello")).response == "hello"


def test_a_target_may_be_called_echo(root: Path) -> None:
    targets: dict[str, Any] = {"echo": {"provider": "recorded", "path": "one.jsonl"}}
    found = TargetMaker(root, targets, {}, SystemClock()).make("echo")

    assert answer(found.target).response == "a"


def test_a_python_target_calls_its_function(root: Path) -> None:
    settings = {"provider": "python", "callable": "textwrap:dedent", "timeout_s": 2}
    found = made(root, settings)

    assert answer(found.target, question("hello")).response == "hello"
    assert found.target.described()["timeout_s"] == 2
    assert found.covers is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"path": "both.jsonl", "candidate": "b"}, "b"),
        ({"path": "one.jsonl"}, "a"),
        ({"path": "one.jsonl", "candidate": "a"}, "a"),
    ],
)
def test_a_recorded_target_answers_for_its_candidate(
    root: Path, settings: dict[str, Any], said: str
) -> None:
    found = made(root, {"provider": "recorded", **settings})

    assert found.covers is not None
    assert found.covers(Case(id="q1"), 0)
    assert answer(found.target).response == said


def test_an_openai_target_knows_its_settings_and_its_secrets(root: Path) -> None:
    settings = {
        **LIVE,
        "api_key_env": "MY_KEY",
        "headers": {"X-Team": "${TEAM}", "X-Level": 7},
        "max_new_tokens": 9,
        "temperature": 0.5,
        "response_format": {"type": "json_object"},
    }
    found = closed(made(root, settings, environ={"MY_KEY": f"{KEY}\n", "TEAM": "team-secret"}))

    assert found.secrets == (KEY, "team-secret", "7")
    assert found.target.described() == {
        "provider": "openai",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "m-1",
        "timeout_s": 60.0,
        "headers": ["X-Level", "X-Team"],
        "max_tokens": 9,
        "temperature": 0.5,
        "response_format": {"type": "json_object"},
    }


@pytest.mark.parametrize(
    ("text", "environ", "model"),
    [
        ("${MODEL}", {"MODEL": "m-2"}, "m-2"),
        ("${MODEL:-m-3}", {}, "m-3"),
        ("${MODEL:-m-3}", {"MODEL": "m-2"}, "m-2"),
        ("${MODEL:-}x", {}, "x"),
        ("a-${ONE}-${TWO:-2}-z", {"ONE": "1"}, "a-1-2-z"),
        ("${ONE}", {"ONE": "${TWO}", "TWO": "never"}, "${TWO}"),
        ("$MODEL and $5", {}, "$MODEL and $5"),
    ],
)
def test_the_environment_fills_the_gaps_once(
    root: Path, text: str, environ: dict[str, str], model: str
) -> None:
    found = closed(made(root, {**LIVE, "model": text}, environ=environ))

    assert found.settings["model"] == model
    assert found.target.described()["model"] == model


def test_lists_and_objects_are_filled_too(root: Path) -> None:
    form = {"type": "x", "enum": ["${ONE}", 2, None]}
    found = closed(made(root, {**LIVE, "response_format": form}, environ={"ONE": "1"}))

    assert found.target.described()["response_format"] == {"type": "x", "enum": ["1", 2, None]}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("liev", "unknown target 'liev' (did you mean 'live'?); targets in steelyard.yaml: live"),
        ("ecko", "unknown target 'ecko' (did you mean 'echo'?); targets in steelyard.yaml: live"),
        ("other", "unknown target 'other'; targets in steelyard.yaml: live"),
    ],
)
def test_an_unknown_target_is_told_with_what_was_meant(root: Path, name: str, said: str) -> None:
    assert refused(root, LIVE, name=name) == said


def test_without_any_target_that_is_told(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"targets in steelyard\.yaml: none"):
        TargetMaker(root, {}, {}, SystemClock()).make("live")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"provider": "opnai"}, "unknown provider 'opnai' (did you mean 'openai'?); known: echo,"),
        ({"provider": "telepathy"}, "unknown provider 'telepathy'; known: echo, recorded, python"),
        ({"provider": "recorded"}, "recorded needs 'path'"),
        ({"provider": "python"}, "python needs 'callable'"),
        ({"provider": "openai", "model": "m"}, "openai needs 'base_url'"),
        ({**LIVE, "model": ""}, "openai needs 'model'"),
        ({**LIVE, "prompt": "x"}, "openai has no use for 'prompt'; takes: max_concurrency"),
        ({**LIVE, "requests_per_minute": 5}, "openai has no use for 'requests_per_minute'"),
        ({"provider": "echo", "model": "m"}, "echo has no use for 'model'; takes: max_"),
        ({"provider": "recorded", "path": "both.jsonl", "candidate": "c"}, "no candidate 'c'"),
        (
            {"provider": "recorded", "path": "both.jsonl"},
            "several candidates; name one; has: a, b",
        ),
        ({**LIVE, "base_url": "127.0.0.1/v1"}, "base_url is no http(s) address: '127.0.0.1/v1'"),
        ({**LIVE, "base_url": "file:///etc"}, "base_url is no http(s) address"),
        ({**LIVE, "base_url": "http://"}, "base_url is no http(s) address"),
        ({**LIVE, "base_url": "ftp://me:pw@h"}, "base_url is no http(s) address"),
        ({**LIVE, "base_url": "http://h:port/"}, "base_url is no http(s) address"),
        ({**LIVE, "base_url": "http://[::1"}, "base_url is no http(s) address"),
        (
            {**LIVE, "base_url": "http://me:pw@h/v1"},
            "must not carry a user, a query or a fragment",
        ),
        (
            {**LIVE, "base_url": "http://h/v1?key=1"},
            "must not carry a user, a query or a fragment",
        ),
        (
            {**LIVE, "headers": {"X Team": "a"}},
            "the header 'X Team' has characters that no header",
        ),
        ({**LIVE, "headers": {"X-Team": "a\nb"}}, "the header 'X-Team' has characters that no"),
        ({**LIVE, "headers": {"X-Team": "é€"}}, "the header 'X-Team' has characters that no"),
    ],
)
def test_wrong_settings_are_told_with_their_target(
    root: Path, settings: dict[str, Any], said: str
) -> None:
    message = refused(root, settings)

    assert message.startswith("targets.live: ")
    assert said in message
    assert "pw" not in message


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "the environment variable MY_KEY is not set; it holds the key"),
        ({"MY_KEY": " \n"}, "the environment variable MY_KEY is not set; it holds the key"),
        ({"MY_KEY": f"{KEY}\nX-Other: 1"}, "the key in MY_KEY has characters that no header"),
    ],
)
def test_a_key_that_cannot_be_sent_is_told_but_not_shown(
    root: Path, environ: dict[str, str], said: str
) -> None:
    message = refused(root, {**LIVE, "api_key_env": "MY_KEY"}, environ=environ)

    assert message.startswith(f"targets.live: {said}")
    assert KEY not in message


def test_a_variable_that_is_not_set_is_told_with_its_place(root: Path) -> None:
    settings = {**LIVE, "headers": {"X-Team": "${TEAM}"}}

    assert refused(root, settings) == (
        "targets.live.headers.X-Team: the environment variable TEAM is not set"
    )
