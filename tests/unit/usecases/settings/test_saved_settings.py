"""Suites and targets of the store, in a real database."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.project import open_project
from steelyard.usecases.settings.saved_settings import (
    SettingPorts,
    delete_suite,
    delete_target,
    list_suites,
    list_targets,
    save_suite,
    save_target,
)

FILE = """\
targets: {mine: {provider: echo}}
suites: {nightly: {dataset: d.jsonl}}
allow: {env: [TEAM_KEY]}
"""
LIVE: JsonObject = {
    "provider": "openai",
    "base_url": "https://models.example/v1",
    "model": "m-1",
    "api_key_env": "TEAM_KEY",
    "headers": {"X-Team": "red"},
}


@pytest.fixture
def ports(tmp_path: Path) -> Iterator[SettingPorts]:
    (tmp_path / "steelyard.yaml").write_text(FILE, encoding="utf-8")
    with open_project(tmp_path) as project:
        yield project.setting_ports()


def test_what_is_saved_is_listed_beside_the_project_file(ports: SettingPorts) -> None:
    saved = save_target(ports, "live", LIVE)
    save_suite(ports, "weekly", {"dataset": "datasets/qa.yaml", "target": "live"})

    assert saved.entry.text("model") == "m-1"
    assert [(one.name, one.is_saved) for one in list_targets(ports)] == [
        ("live", True),
        ("mine", False),
    ]
    weekly = list_suites(ports)[1]
    assert (weekly.entry.dataset, weekly.is_saved) == ("datasets/qa.yaml", True)


def test_a_saved_entry_is_replaced_and_deleted(ports: SettingPorts) -> None:
    save_suite(ports, "weekly", {"target": "a"})
    save_suite(ports, "weekly", {"target": "b"})
    targets = [one.entry.target for one in list_suites(ports) if one.is_saved]
    delete_suite(ports, "weekly")

    assert targets == ["b"]
    assert [one.name for one in list_suites(ports)] == ["nightly"]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ({"provider": "command", "command": ["sh"]}, "only steelyard.yaml may define a target"),
        ({"provider": "python", "callable": "os:system"}, "only steelyard.yaml may define"),
        ({**LIVE, "ca_file": "ca.pem"}, "only steelyard.yaml may name a 'ca_file'"),
        ({**LIVE, "proxy": "http://p:1"}, "only steelyard.yaml may name a 'proxy'"),
        ({**LIVE, "resources": {"GPU": 1}}, "only steelyard.yaml may name a 'resources'"),
        ({**LIVE, "headers": {"X-Team": "${HOME}"}}, r"\$\{NAME\} is allowed only in"),
        ({**LIVE, "prompt": "${HOME} {{ input }}"}, r"\$\{NAME\} is allowed only in"),
        ({**LIVE, "base_url": "http://u:pw@h/v1"}, "base_url would keep a secret"),
        ({**LIVE, "body": {"api_key": "abc"}}, "body.api_key would keep a secret"),
        ({**LIVE, "api_key_env": "OTHER"}, "the variable OTHER is not listed in allow.env"),
        ({**LIVE, "headers": {"X-Team": "red-team"}}, "headers.X-Team would keep a secret"),
        ({**LIVE, "headers": {"Authorization": "x"}}, "headers.Authorization would keep a secret"),
        ({"provider": "recorded", "path": "../r.jsonl"}, "'path' must be inside the project"),
        ({"provider": "recorded", "path": "/etc/passwd"}, "'path' must be inside the project"),
        ({"provider": "echo", "max_concurrency": 0}, "max_concurrency"),
        ({"model": "m"}, "provider"),
    ],
)
def test_a_target_that_only_the_project_file_may_define_is_refused(
    row: JsonObject, wrong: str, ports: SettingPorts
) -> None:
    with pytest.raises(InvalidError, match=wrong):
        save_target(ports, "live", row)

    assert [one.name for one in list_targets(ports)] == ["mine"]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ({"datset": "d.jsonl"}, "dataset"),
        ({"fail_under": 2}, "fail_under"),
        ({"dataset": "C:\\d.jsonl"}, "'dataset' must be inside the project"),
        ({"rubric": "../r.yaml"}, "'rubric' must be inside the project"),
        ({"dataset": "\ud800"}, "half a surrogate pair"),
    ],
)
def test_a_suite_is_checked_as_in_the_project_file(
    row: JsonObject, wrong: str, ports: SettingPorts
) -> None:
    with pytest.raises(InvalidError, match=wrong):
        save_suite(ports, "weekly", row)


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", "x" * 101, "\ud800"])
def test_a_name_is_plain(name: str, ports: SettingPorts) -> None:
    with pytest.raises(InvalidError, match="is not a valid name"):
        save_suite(ports, name, {})
    with pytest.raises(InvalidError, match="is not a valid name"):
        delete_suite(ports, name)


def test_names_of_the_project_file_are_taken(ports: SettingPorts) -> None:
    with pytest.raises(ConflictError, match=r"suites.nightly is defined in steelyard.yaml"):
        save_suite(ports, "nightly", {})
    for name in ("mine", "echo"):
        with pytest.raises(ConflictError):
            save_target(ports, name, {"provider": "echo"})
    with pytest.raises(ConflictError, match=r"defined in steelyard.yaml; only what was saved"):
        delete_target(ports, "mine")
    with pytest.raises(ConflictError, match=r"targets.echo is built in"):
        delete_target(ports, "echo")
    with pytest.raises(NotFoundError, match="there is no target 'other'"):
        delete_target(ports, "other")


def test_the_project_file_wins_where_it_names_one_later(
    ports: SettingPorts, tmp_path: Path
) -> None:
    save_target(ports, "live", LIVE)
    (tmp_path / "steelyard.yaml").write_text("targets: {live: {provider: echo}}\n", "utf-8")
    with open_project(tmp_path) as project:
        (found,) = list_targets(project.setting_ports())
        planned = project.run_ports().settings.targets

    assert (found.entry.provider, found.is_saved) == ("echo", False)
    assert planned["live"].provider == "echo"


def test_a_run_redacts_the_key_of_a_saved_target(
    ports: SettingPorts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_target(ports, "live", LIVE)
    monkeypatch.setenv("TEAM_KEY", "sesame-open-123")
    with open_project(tmp_path) as project:
        secrets = project.run_ports().secrets
        text = project.redactor().text("the key is sesame-open-123")

    assert "sesame-open-123" in secrets
    assert "sesame" not in text


@pytest.mark.parametrize("path", ["elsewhere/r.jsonl", ".env", "a/.b/r.jsonl", "x\0y"])
def test_a_path_that_runs_may_not_read_is_refused(
    path: str, ports: SettingPorts, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "elsewhere").symlink_to(tmp_path_factory.mktemp("elsewhere"))

    with pytest.raises(InvalidError, match="'path' must be inside the project"):
        save_target(ports, "kept", {"provider": "recorded", "path": path})
    with pytest.raises(InvalidError, match="'dataset' must be inside the project"):
        save_suite(ports, "weekly", {"dataset": path})


@pytest.mark.parametrize("value", [object(), {5: "a"}, b"x", math.nan])
def test_what_is_not_json_is_refused(value: Any, ports: SettingPorts) -> None:
    with pytest.raises(InvalidError, match=r"targets.live must be JSON"):
        save_target(ports, "live", {**LIVE, "body": {"a": value}})


@pytest.mark.parametrize(
    "row",
    [
        {"provider": "command", "command": ["sh", "-c", "id"]},
        {"provider": "python", "callable": "os:getcwd"},
        {"provider": "openai", "base_url": "https://a.example", "api_key_env": "HOME"},
    ],
)
def test_a_target_that_was_put_into_the_database_by_other_ways_is_not_used(
    row: JsonObject, ports: SettingPorts
) -> None:
    with ports.saved.changing("targets", "planted") as change:
        change.put(row, ports.entry("save_target", "planted"))

    assert "planted" not in [one.name for one in list_targets(ports)]


def test_a_suite_is_not_called_like_the_page_for_a_new_one(ports: SettingPorts) -> None:
    """A target may be: its pages have other addresses."""
    with pytest.raises(InvalidError, match="a suite cannot be called 'new'; take another name"):
        save_suite(ports, "new", {"target": "mine"})
    save_target(ports, "new", LIVE)


def test_a_path_whose_links_lead_in_a_circle_is_refused(ports: SettingPorts) -> None:
    (ports.root / "loop.jsonl").symlink_to("loop.jsonl")

    with pytest.raises(InvalidError, match="'dataset' must be inside the project"):
        save_suite(ports, "weekly", {"dataset": "loop.jsonl"})


@pytest.mark.parametrize(
    "data", [b"", b"\xff\x00", b"[]", b'{"dataset":' + b"[" * 50_000, b'{"fail_under": "high"}']
)
def test_a_saved_entry_that_cannot_be_used_is_ignored_with_one_warning(
    data: bytes, tmp_path: Path
) -> None:
    warnings: list[str] = []
    with open_project(tmp_path, warn=warnings.append) as project:
        save_suite(project.setting_ports(), "broken", {"target": "echo"})
        save_suite(project.setting_ports(), "sound", {"target": "echo"})
    with closing(sqlite3.connect(tmp_path / ".steelyard" / "steelyard.db")) as database, database:
        database.execute("UPDATE saved_settings SET row = ? WHERE name = 'broken'", (data,))

    with open_project(tmp_path, warn=warnings.append) as project:
        project.run_ports()
        assert [one.name for one in list_suites(project.setting_ports())] == ["sound"]
        assert len(warnings) == 1, warnings
        assert "broken" in warnings[0]
        save_suite(project.setting_ports(), "broken", {"target": "echo"})
        assert [one.name for one in list_suites(project.setting_ports())] == ["broken", "sound"]
