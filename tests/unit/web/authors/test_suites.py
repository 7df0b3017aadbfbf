"""The form of a suite: warnings or errors at the fields, and runs that cannot start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fakes.definitions import QUESTIONS, RUBRIC
from fakes.projects import Project as Folder
from fakes.projects import row
from servers.service import running
from steelyard.project import Project, open_project


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = Folder(tmp_path_factory.mktemp("project"))
    folder.cases([row("a"), row("b")])
    folder.write("bad.jsonl", '{"id": "a"}\n')
    folder.write("rubrics/mine@1.0.0.yaml", RUBRIC.format(id="mine", version="1.0.0"))
    for version, status in (("old-v1", "archived"), ("asks-v1", "draft")):
        text = QUESTIONS.format(version=version, status=status)
        folder.write(f"rubrics/{version}.yaml", text)
    with open_project(folder.root) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


HALF: dict[str, Any] = {
    "dataset_id": "half",
    "dataset_version": "1",
    "schema_version": "1.0",
    "records": [
        {"record_id": "a", "input": {"prompt": "Hi"}},
        {"record_id": "b", "input": {}},
    ],
}
WHOLE = {"name": "s", "dataset": "d.jsonl", "target": "echo", "rubric": "rubric/mine@1.0"}


def _findings(page: str, field: str) -> str:
    found = re.search(rf'id="{field}-findings">(.*?)</ul>', page, re.DOTALL)
    return found[1] if found else ""


def _saved(client: httpx.Client, **more: str) -> str:
    return client.post("/suites/new", data=WHOLE | more, follow_redirects=True).text


@pytest.mark.parametrize(
    ("field", "value", "why", "can_run"),
    [
        ("rubric", "rubric/mine", "is not pinned", True),
        ("rubric", "rubric/old-v1", "is archived", False),
        ("rubric", "rubric/asks-v1", "which has no target", False),
        ("rubric", "rubric/none@1.0", "cannot resolve", False),
        ("judge", "judge/accuracy", "is not pinned", True),
        ("judge", "judge/none@1.0", "cannot resolve", False),
        ("dataset", "none.jsonl", "no such file", False),
        ("dataset", "bad.jsonl", "missing expected_outcome", False),
        ("dataset", "dataset/none@1", "there is no dataset/none@1", False),
        ("dataset", "dataset/half@1", "missing input.prompt", True),
        ("target", "none", "there is no target", False),
    ],
)
def test_what_a_run_refuses_is_a_warning_or_in_strict_mode_an_error(
    client: httpx.Client, field: str, value: str, why: str, can_run: bool
) -> None:
    assert client.post("/v1/datasets", json=HALF).status_code == 201

    strict = _saved(client, **{field: value, "strict_validation": "on"})
    nothing = client.get("/suites/s").status_code
    soft = _saved(client, **{field: value})

    assert "Nothing is saved" in strict
    assert "Error" in _findings(strict, field)
    assert f'value="{value}"' in strict
    assert nothing == 404
    assert "Warning" in _findings(soft, field)
    assert why in _findings(soft, field)
    assert ("cannot start until" in soft) is not can_run
    assert ("left out of a run and counted" in soft) is can_run


def test_a_judge_without_a_target_is_found_where_the_suite_names_it(client: httpx.Client) -> None:
    page = _saved(client, rubric="", judge="judge/accuracy@1.0.0")

    assert "judge/accuracy@1.0.0, which has no target" in _findings(page, "judge")


@pytest.mark.parametrize("part", ["rubric", "judge"])
@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "bad.jsonl"])
def test_a_dataset_is_no_rubric_and_no_judge(
    client: httpx.Client, project: Project, part: str, name: str
) -> None:
    (project.root / "d.json").write_text('{"dataset_id": "d", "records": []}', encoding="utf-8")
    answer = client.post("/v1/suites", json={**WHOLE, part: name})

    assert answer.status_code == 201
    assert answer.json()["findings"][-1]["path"] == part
    assert str(project.root) not in answer.text


@pytest.mark.parametrize("mode", [{}, {"strict_validation": "on"}])
def test_a_suite_without_a_dataset_says_that_no_run_can_start(
    client: httpx.Client, mode: dict[str, str]
) -> None:
    page = _saved(client, dataset="", **mode)
    started = client.post("/suites/s/run", data={"form_token": ""})

    assert "Saved, but a run of this suite cannot start" in page
    assert "no dataset" in _findings(page, "dataset")
    assert started.status_code == 400
    assert "The run was not started: name a dataset" in started.text


@pytest.mark.parametrize(
    ("field", "value"),
    [("dataset", "none.jsonl"), ("rubric", "rubric/none@1.0"), ("rubric", "rubric/asks-v1")],
)
def test_a_run_that_cannot_start_leaves_its_reason_on_the_form(
    client: httpx.Client, field: str, value: str
) -> None:
    _saved(client, **{field: value})
    page = client.post("/suites/s/run", data={"form_token": ""}).text

    assert "The run was not started: " in page
    assert _findings(page, field)
    assert f'value="{value}"' in page
    assert '<form class="form block" method="post" action="/suites/s">' in page
    assert "<nav" in page
    assert client.get("/v1/runs").json()["data"] == []


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("fail_under", "80", "Least pass rate must be a number from 0 to 1, not &#39;80&#39;"),
        ("fail_under", "80%", "Least pass rate must be a number from 0 to 1"),
        ("fail_under", "nan", "Least pass rate must be a number from 0 to 1"),
        ("pass_threshold", "-1", "Pass threshold must be a number from 0 to 1"),
        ("dataset", "../d.jsonl", "Dataset must be inside the project"),
        ("name", "a b", "is not a valid name"),
        ("name", "new", "cannot be called"),
    ],
)
def test_a_wrong_value_is_marked_at_its_field_by_its_label(
    client: httpx.Client, field: str, value: str, said: str
) -> None:
    page = _saved(client, **{field: value})
    place = re.search(rf'<input class="input" id="{field}"[^>]*>', page)

    assert said in _findings(page, field)
    assert "suites." not in page.partition("<main")[2]
    assert place
    assert 'aria-invalid="true"' in place[0]


def test_everything_that_is_wrong_is_said_at_once(client: httpx.Client) -> None:
    page = _saved(client, name="a b", fail_under="80", pass_threshold="x", target="nowhere")

    assert "is not a valid name" in _findings(page, "name")
    assert "must be a number from 0 to 1" in _findings(page, "fail_under")
    assert "must be a number from 0 to 1" in _findings(page, "pass_threshold")
    assert "nowhere" in _findings(page, "target")


def test_saving_keeps_what_the_form_does_not_show(client: httpx.Client) -> None:
    suite = {**WHOLE, "require_validated": {"tpr": 0.8}, "pass_threshold": 0.6}
    client.post("/v1/suites", json=suite)
    shown = client.get("/suites/s").text
    client.post("/suites/s", data=WHOLE | {"pass_threshold": "0.6", "fail_under": "0.5"})
    saved = client.get("/v1/suites/s").json()

    assert 'name="pass_threshold" value="0.6"' in shown
    assert saved["require_validated"] == {"tpr": 0.8}
    assert (saved["pass_threshold"], saved["fail_under"]) == (0.6, 0.5)
