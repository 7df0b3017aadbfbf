"""The files for a deployment say what the pages about it promise."""

from __future__ import annotations

import re
import shlex
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from steelyard.cli.main import application

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "deploy"
KNOWN = {
    *("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL"),
    *("HEALTHCHECK", "ENTRYPOINT", "CMD"),
}
PINNED = re.compile(r"[a-z]+:\d+\.\d+\.\d+(-[a-z0-9-]+)?")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines]


def last_stage() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, rest in instructions():
        found = {} if name == "FROM" else {**found, name: rest}
    return found


def compose() -> dict[str, Any]:
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def parse(words: list[str]) -> None:
    """Refuse words that the command line does not know."""
    command: Any = typer.main.get_command(application())
    name, *rest = words
    command.commands[name].make_context(name, rest)


def test_the_image_is_built_from_pinned_parts() -> None:
    found = instructions()

    assert {name for name, _ in found} <= KNOWN
    assert all(PINNED.fullmatch(rest.split()[0]) for name, rest in found if name == "FROM")
    installs = [rest for name, rest in found if name == "RUN" and "pip install" in rest]
    assert all("--require-hashes" in one or "--no-deps" in one for one in installs)
    assert "--require-hashes" in installs[0]


def test_everything_that_is_copied_into_the_image_is_there() -> None:
    for name, rest in instructions():
        sources = [word for word in rest.split() if not word.startswith("--")][:-1]
        if name == "COPY" and "--from" not in rest:
            assert all((ROOT / one).exists() for one in sources)


def test_the_image_runs_as_nobody_in_particular_and_says_how_it_is() -> None:
    stage = last_stage()

    assert int(stage["USER"]) > 0
    assert "/readyz" in stage["HEALTHCHECK"]
    assert stage["STOPSIGNAL"] == "SIGTERM"
    assert stage["ENTRYPOINT"] == '["steelyard"]'


def test_the_services_are_pinned_and_confined() -> None:
    services = compose()["services"]

    for service in services.values():
        assert PINNED.fullmatch(service["image"])
        assert service["restart"] == "unless-stopped"
    server = services["steelyard"]
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert "ports" not in server  # reached through the proxy alone
    assert {"--login", "--public-url", "--trusted-proxy"} <= set(server["command"])


def test_the_commands_of_compose_and_systemd_are_known() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # pyright: ignore[reportAttributeAccessIssue] - keeps the case
    unit.read(FOLDER / "steelyard.service", encoding="utf-8")
    program, *words = shlex.split(unit["Service"]["ExecStart"])

    parse([str(word) for word in compose()["services"]["steelyard"]["command"]])
    parse(words)
    assert program.endswith("/bin/steelyard")
    assert unit["Service"]["User"] != "root"
    assert unit["Service"]["NoNewPrivileges"] == "true"


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-compose.conf"])
def test_a_proxy_forwards_what_the_server_needs(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")

    for needed in (
        "proxy_set_header Host $http_host;",
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_request_buffering off;",
        "proxy_http_version 1.1;",
        "listen 443 ssl;",
    ):
        assert needed in text
