"""Changes of one thing that arrive at once: each answer is true afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from fakes.projects import Project as Folder
from fakes.projects import row
from servers.run_service import document, record
from servers.service import served
from steelyard.errors import ConflictError, SteelyardError, UnauthorizedError
from steelyard.model.json_value import JsonObject
from steelyard.project import Project, open_project
from steelyard.usecases.access.sessions import Credentials, change_own_password, log_in
from steelyard.usecases.access.users import add_user
from steelyard.usecases.datasets.create_definition import create_definition
from steelyard.usecases.datasets.uploads import Upload
from steelyard.usecases.registry.publish import carry_out, plan_publication
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.settings.saved_settings import save_suite, save_target

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

T = TypeVar("T")
MANY = 8
FEW = 4
"""Fewer than failed logins of one account are allowed."""
ROUNDS = 3


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    Folder(tmp_path).cases([row("a")])
    with open_project(tmp_path) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with served(project) as client:
        yield client


def at_once(change: Callable[[int], T], threads: int = MANY) -> list[T | SteelyardError]:
    """What became of a change that many threads make at the same moment."""
    barrier = Barrier(threads)

    def one(number: int) -> T | SteelyardError:
        barrier.wait()
        try:
            return change(number)
        except SteelyardError as error:
            return error

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(threads)))


def done(outcomes: list[T | SteelyardError]) -> list[T]:
    return [one for one in outcomes if not isinstance(one, SteelyardError)]


def rubric(phrase: str, version: str, status: str = "published") -> dict[str, Any]:
    return {
        "id": "tone",
        "version": version,
        "status": status,
        "scoring": {"combine": "all_pass"},
        "checks": [{"id": "polite", "kind": "must_contain_any", "phrases": [phrase]}],
    }


def sent(ports: RegistryPorts, content: dict[str, Any]) -> str:
    """The hash under which a rubric was saved."""
    data = json.dumps(content).encode()
    digest = hashlib.sha256(data).hexdigest()
    upload = Upload("rubric.json", partial(BytesIO, data), len(data), digest)
    made = create_definition(ports, "rubric", upload)
    assert made.saved, made.report
    return made.sha256


def test_one_content_of_a_version_is_acknowledged_as_published(
    client: httpx.Client,
) -> None:
    for number in range(ROUNDS):
        version = f"{number + 1}.0.0"

        def post(one: int, version: str = version) -> httpx.Response:
            return client.post("/v1/rubrics", json=rubric(f"phrase {one}", version))

        answers = done(at_once(post))

        shown = client.get(f"/v1/rubrics/tone@{version}").json()
        accepted = [one.json() for one in answers if one.status_code == 201]
        assert sorted(one.status_code for one in answers) == [201] + [409] * (MANY - 1)
        assert [(one["sha256"], one["status"]) for one in accepted] == [
            (shown["sha256"], "published")
        ]
        run = client.post(
            "/v1/runs",
            params={"target": "echo", "rubric": f"rubric/tone@{version}"},
            json=document([record("a")]),
        )
        assert run.status_code == 202, run.text


def test_the_same_content_is_acknowledged_to_everybody(client: httpx.Client) -> None:
    answers = done(at_once(lambda _: client.post("/v1/rubrics", json=rubric("please", "1.0.0"))))

    assert sorted(one.status_code for one in answers) == [200] * (MANY - 1) + [201]


def test_a_draft_that_is_replaced_while_it_is_published_is_published_or_replaced(
    project: Project,
) -> None:
    """Never both: the store and the registry hold the same content afterwards."""
    for number in range(ROUNDS):
        version = f"{number + 1}.0.0"
        reference = f"rubric/tone@{version}"
        sent(project.registry_ports(), rubric("first", version, "draft"))

        def change(one: int, version: str = version, reference: str = reference) -> str:
            ports = project.registry_ports()
            if one % 2:
                return sent(ports, rubric(f"phrase {one}", version, "draft"))
            made = carry_out(ports, plan_publication(ports, "rubric", reference))
            return made.published.sha256 if made.published else ""

        at_once(change)

        ports = project.registry_ports()
        held = [one for one in ports.registry.all("rubric") if one.reference == reference]
        found = ports.references.known("rubric")
        contents = {one.content.sha256 for one in found if one.content and version in one.shown}
        assert not held or contents == {held[0].sha256}


def test_one_suite_of_a_name_is_saved(project: Project) -> None:
    def save(one: int) -> bool:
        dataset: JsonObject = {"dataset": f"{one}.jsonl"}
        return save_suite(project.setting_ports(), "weekly", dataset, is_update=False)

    outcomes = at_once(save)

    assert done(outcomes) == [True]
    assert [type(one) for one in outcomes if one is not True] == [ConflictError] * (MANY - 1)


def test_one_target_of_a_name_is_saved(project: Project) -> None:
    def save(one: int) -> int | None:
        settings: JsonObject = {"provider": "echo", "max_concurrency": one + 1}
        made = save_target(project.setting_ports(), "mine", settings, is_update=False)
        return made.entry.max_concurrency

    outcomes = at_once(save)

    assert done(outcomes) == [
        project.setting_ports().saved.all("targets")["mine"]["max_concurrency"]
    ]
    assert sum(isinstance(one, ConflictError) for one in outcomes) == MANY - 1


def test_one_of_several_changes_of_a_password_succeeds(project: Project) -> None:
    ports = project.access_ports()
    add_user(ports, "ada", "viewer", "the first one")

    def change(one: int) -> str:
        given = Credentials("ada", "the first one", f"192.0.2.{one}")
        change_own_password(ports, given, f"password {one}")
        return f"password {one}"

    outcomes = at_once(change, FEW)

    [password] = done(outcomes)
    assert log_in(ports, Credentials("ada", password, "192.0.2.99")).user.name == "ada"
    assert any(isinstance(one, UnauthorizedError) for one in outcomes)
