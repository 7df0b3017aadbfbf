"""Targets from the project file: what is wrong is told before the first call."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.asking import answer, question
from steelyard.errors import ConfigError
from steelyard.model.case import Case
from steelyard.ports import Sought
from steelyard.settings import TargetEntry
from steelyard.store.clock import SystemClock
from steelyard.targets.making import Made, TargetMaker
from steelyard.targets.specs import spec

TLS = Path(__file__).parents[2] / "servers" / "tls"
KEY = "sk-canary-1234567890"
LIVE: dict[str, Any] = {"provider": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "m-1"}
JSON: dict[str, Any] = {"provider": "http", "url": "http://127.0.0.1:1/ask"}
AGENT: dict[str, Any] = {"provider": "command", "command": [sys.executable, "agent.py"]}


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
    return TargetMaker(
        root, {"live": TargetEntry.of(settings)}, environ or {}, SystemClock()
    ).make(name)


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
    targets = {"echo": TargetEntry(provider="recorded", extra={"path": "one.jsonl"})}
    found = TargetMaker(root, targets, {}, SystemClock()).make("echo")

    assert answer(found.target).response == "a"


def test_a_python_target_calls_its_function(root: Path) -> None:
    settings = {"provider": "python", "callable": "reprlib:repr", "timeout_s": 2}
    found = made(root, settings)

    assert answer(found.target, question("hello")).response == "'hello'"
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
    assert found.covers(Sought(Case(id="q1")))
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

    assert found.settings.extra["model"] == model
    assert found.target.described()["model"] == model


def test_lists_and_objects_are_filled_too(root: Path) -> None:
    form = {"type": "x", "enum": ["${ONE}", 2, None]}
    found = closed(made(root, {**LIVE, "response_format": form}, environ={"ONE": "1"}))

    assert found.target.described()["response_format"] == {"type": "x", "enum": ["1", 2, None]}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("liev", "unknown target 'liev' (did you mean 'live'?); targets of this project: live"),
        ("ecko", "unknown target 'ecko' (did you mean 'echo'?); targets of this project: live"),
        ("other", "unknown target 'other'; targets of this project: live"),
        (
            "default",
            (
                "no target given; pass `target` NAME or define 'default'; targets of "
                "this project: live"
            ),
        ),
    ],
)
def test_an_unknown_target_is_told_with_what_was_meant(root: Path, name: str, said: str) -> None:
    assert refused(root, LIVE, name=name) == said


def test_without_any_target_that_is_told(root: Path) -> None:
    with pytest.raises(ConfigError, match=r"targets of this project: none"):
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
        ({**LIVE, "settings": {}}, "openai has no use for 'settings'; takes: max_concurrency"),
        (
            {"provider": "recorded", "path": "one.jsonl", "prompt": "x"},
            "recorded has no use for 'prompt': nobody is asked",
        ),
        (
            {"provider": "recorded", "path": "one.jsonl", "resources": {"GPU": 1}},
            "recorded has no use for 'resources': nobody is asked",
        ),
        (
            {**LIVE, "prompt": "a\n{{ inptu }}"},
            "prompt, line 2: unknown variable 'inptu' (did you mean 'input'?)",
        ),
        ({**LIVE, "prompt": "{{ expected }}"}, "unknown variable 'expected' (known are input, "),
        ({**LIVE, "prompt": "{{> part }}"}, "partial 'part' is not supported (write the text out"),
        ({**LIVE, "prompt": "{{ input"}, "prompt, line 1: a tag is not closed with }}"),
        (
            {"provider": "python", "callable": "fakes.asking:takes_case", "prompt": "{{ input }}"},
            "'prompt' does not reach a function that takes the Case",
        ),
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
        ({"provider": "anthropic"}, "anthropic needs 'model'"),
        ({"provider": "anthropic", "model": "m", "seed": 7}, "anthropic has no use for 'seed'"),
        ({"provider": "http"}, "http needs 'url'"),
        ({**JSON, "url": "ftp://h/"}, "url is no http(s) address: 'ftp://h/'"),
        ({**JSON, "url": "http://h/?key=1"}, "url must not carry a user, a query or a fragment"),
        ({**JSON, "answer": "a", "trace": "b"}, "'answer' and 'trace' exclude each other"),
        ({**JSON, "answer": "$.a"}, "answer is no path: '$.a'; write it as in choices[0].text"),
        ({**JSON, "answer": "a..b"}, "answer is no path: 'a..b'"),
        ({**JSON, "trace": "a[x]"}, "trace is no path: 'a[x]'"),
        ({**JSON, "trace": ""}, "trace is no path: ''"),
        ({**JSON, "usage": {"input_tokens": "a."}}, "usage.input_tokens is no path: 'a.'"),
        ({**JSON, "method": "GET"}, "a GET needs 'query', such as {q: '{{ prompt }}'}"),
        ({**JSON, "method": "GET", "query": {"q": "1"}}, "the request is the same for every case"),
        ({**JSON, "body": {"q": "prompt"}}, "the request is the same for every case; use {{ prom"),
        (
            {**JSON, "method": "GET", "body": "{{ prompt }}"},
            "a GET has no body; put the question into 'query'",
        ),
        ({"provider": "command"}, "command needs 'command'"),
        ({**AGENT, "command": ["no-such-program-here"]}, "there is no program 'no-such-program-"),
        ({**AGENT, "command": ["./missing.sh"]}, "missing.sh"),
        ({**AGENT, "command": ["./both.jsonl"]}, "both.jsonl cannot be executed"),
        ({**AGENT, "command": ["../"]}, "cannot be executed"),
        (
            {**AGENT, "command": [sys.executable, "{PROMT}", "{PROMPT}"]},
            "unknown placeholder {PROMT} (did you mean 'PROMPT'?) in 'command'; known: {PROMPT}, ",
        ),
        (
            {**AGENT, "command": [sys.executable, "--files={FILES}"]},
            "unknown placeholder {FILES} in 'command'",
        ),
        ({**AGENT, "base_url": "http://h"}, "command has no use for 'base_url'"),
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


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("${MODEL_KEY}", "not what it holds; write api_key_env: MODEL_KEY"),
        ("${MODEL_KEY:-sk-canary-else}", "not what it holds; write api_key_env: MODEL_KEY"),
        (KEY, "never the key itself; put the key into a variable and write api_key_env: MY_KEY"),
        ("gsk_aB3canaryX9", "put the key into a variable and write api_key_env: MY_KEY"),
        ("x-${MODEL_KEY}", "put the key into a variable and write api_key_env: MY_KEY"),
    ],
)
@pytest.mark.parametrize("settings", [LIVE, JSON], ids=["openai", "http"])
def test_a_key_in_place_of_its_variable_is_never_shown(
    root: Path, settings: dict[str, Any], written: str, said: str
) -> None:
    message = refused(root, {**settings, "api_key_env": written}, environ={"MODEL_KEY": KEY})

    assert message.startswith("targets.live: api_key_env ")
    assert message.endswith(said)
    assert "canary" not in message


def test_the_name_of_a_key_variable_may_come_from_the_environment(root: Path) -> None:
    settings = {**LIVE, "api_key_env": "${WHICH}"}

    found = made(root, settings, environ={"WHICH": "MY_KEY", "MY_KEY": KEY})

    assert KEY in closed(found).secrets


@pytest.mark.parametrize(
    "settings",
    [
        {**LIVE, "base_url": "${APP_TOKEN}"},
        {**LIVE, "provider": "${APP_TOKEN}"},
        {**LIVE, "base_url": KEY},
        {**JSON, "answer": "${APP_TOKEN}["},
        {**AGENT, "command": ["${APP_TOKEN}"]},
        {"provider": "recorded", "path": "one.jsonl", "candidate": "${APP_TOKEN}"},
        {"provider": "recorded", "path": "${APP_TOKEN}"},
        {"provider": "python", "callable": "${APP_TOKEN}:ask"},
        {**LIVE, "prompt": "{{ ${APP_TOKEN} }}"},
    ],
)
def test_no_message_about_a_target_shows_a_secret_of_its_settings(
    root: Path, settings: dict[str, Any]
) -> None:
    message = refused(root, settings, environ={"APP_TOKEN": KEY})

    assert "[redacted" in message
    assert "canary" not in message


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("file://a.md", "'prompt' is the template itself, and no file is read for it"),
        (" FILE://a.md\n", "'prompt' is the template itself, and no file is read for it"),
        ("a.md", "'prompt' shows nothing of a record, so that all would be asked the same"),
        ("Be brief.\nAnswer {input}", "'prompt' shows nothing of a record"),
    ],
)
def test_a_prompt_that_asks_all_records_the_same_is_refused(
    root: Path, prompt: str, said: str
) -> None:
    assert refused(root, {**LIVE, "prompt": prompt}).startswith(f"targets.live: {said}")


def test_a_variable_that_is_not_set_is_told_with_its_place(root: Path) -> None:
    settings = {**LIVE, "headers": {"X-Team": "${TEAM}"}}

    assert refused(root, settings) == (
        "targets.live.headers.X-Team: the environment variable TEAM is not set"
    )


def test_an_anthropic_target_knows_where_it_is_and_how_much_may_be_said(root: Path) -> None:
    settings = {"provider": "anthropic", "model": "m-1", "api_key_env": "MY_KEY"}
    found = closed(made(root, settings, environ={"MY_KEY": KEY}))

    assert found.secrets == (KEY,)
    assert found.settings.extra["max_new_tokens"] == 1024
    assert found.target.described() == {
        "provider": "anthropic",
        "base_url": "https://api.anthropic.com",
        "model": "m-1",
        "timeout_s": 60.0,
        "headers": [],
        "max_tokens": 1024,
    }


def test_what_the_project_file_says_about_anthropic_wins(root: Path) -> None:
    settings = {"provider": "anthropic", "model": "m-1", "max_new_tokens": 7, "top_p": 0.5}
    found = closed(made(root, {**settings, "base_url": "http://h/claude"}))
    described = found.target.described()

    assert (described["max_tokens"], described["top_p"]) == (7, 0.5)
    assert described["base_url"] == "http://h/claude"


def test_an_http_target_keeps_its_secrets_to_itself(root: Path) -> None:
    settings = {**JSON, "api_key_env": "MY_KEY", "headers": {"X-Team": "${TEAM}"}}
    found = closed(made(root, settings, environ={"MY_KEY": KEY, "TEAM": "team-secret"}))

    assert found.secrets == (KEY, "team-secret")
    assert KEY not in str(found.target.described())
    assert "team-secret" not in str(found.target.described())


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"body": {"q": ["{{ promt }}"]}}, "targets.live.body.q[0]: unknown variable {{ promt }}"),
        ({"query": {"q": "{{ x }}"}}, "targets.live.query.q: unknown variable {{ x }}; known: p"),
    ],
)
def test_a_wrong_name_in_a_template_is_told_with_its_place(
    root: Path, template: dict[str, Any], said: str
) -> None:
    assert refused(root, {**JSON, **template}).startswith(said)


def test_a_command_runs_in_the_project_and_knows_what_its_file_adds(root: Path) -> None:
    (root / "agent.py").write_text(
        "import os; print(os.getcwd(), os.environ['MOOD'], os.environ['LEVEL'], os.environ['A'])"
    )
    environ = {"A": "inherited", "SECRET": "hush-hush-hush"}
    added = {"MOOD": "good", "LEVEL": 7, "TOKEN": "x-${SECRET}", "PLAIN": "no variable"}
    found = made(root, {**AGENT, "env": added}, environ=environ)

    assert answer(found.target).response == f"{root} good 7 inherited"
    assert found.secrets == ("x-hush-hush-hush", "hush-hush-hush")
    assert found.target.described()["env"] == ["LEVEL", "MOOD", "PLAIN", "TOKEN"]


def test_a_program_is_found_from_the_root_or_on_the_path_that_it_will_see(root: Path) -> None:
    folder = root / "bin"
    folder.mkdir()
    program = folder / "my-agent"
    program.write_text('#!/bin/sh\necho "$0"\n', encoding="utf-8")
    program.chmod(0o755)
    by_path = made(root, {"provider": "command", "command": ["./bin/my-agent"]})
    by_name = made(
        root, {"provider": "command", "command": ["my-agent"], "env": {"PATH": str(folder)}}
    )

    assert Path(answer(by_path.target).response).resolve() == program
    assert answer(by_name.target).response == str(program)


# --- certificates


@pytest.mark.parametrize("settings", [LIVE, JSON])
def test_certificates_for_an_address_without_tls_are_refused(
    root: Path, settings: dict[str, Any]
) -> None:
    said = refused(root, {**settings, "ca_file": "own.pem"})

    assert "'ca_file' changes nothing, since http://127.0.0.1:1/" in said


def test_the_variable_does_not_count_where_a_target_names_its_own(root: Path) -> None:
    shutil.copyfile(TLS / "certificate.pem", root / "own.pem")
    live = {**LIVE, "base_url": "https://127.0.0.1:1/v1"}
    environ = {"SSL_CERT_FILE": "/no/such.pem"}

    closed(made(root, {**live, "ca_file": "own.pem"}, environ=environ))
    closed(made(root, LIVE, environ=environ))
    assert "SSL_CERT_FILE names /no/such.pem" in refused(root, live, environ=environ)


@pytest.mark.parametrize(
    ("settings", "can_hold"),
    [
        ({"provider": "openai", "base_url": "http://localhost:1", "model": "m"}, True),
        ({"provider": "anthropic", "model": "m"}, True),
        ({"provider": "http", "url": "http://localhost:1"}, False),
        ({"provider": "echo"}, False),
    ],
)
def test_protocols_of_models_hold_replies_to_a_schema(
    root: Path, settings: dict[str, Any], can_hold: bool
) -> None:
    assert spec("live", closed(made(root, settings))).can_hold is can_hold
