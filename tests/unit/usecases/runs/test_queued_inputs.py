"""What a queued run keeps, and what it refuses to keep."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fakes.projects import Project, row, rows_of
from fakes.targets import ScriptedTarget
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from steelyard.errors import ConfigError, InvalidError, NotFoundError
from steelyard.execution.run_options import RunOptions
from steelyard.project_file import parse_settings, write_settings
from steelyard.results.stored_run import StoredRun
from steelyard.settings import KEPT_ELSEWHERE, Settings, TargetEntry
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.execute import FinishedRun, create_run, execute_run

RUBRIC = """\
{id: r, version: 1.0.0, checks: [{id: c, kind: regex, pattern: x}], scoring: {combine: min}}
"""
RESPONSE = '{"record_id": "a", "candidate_name": "c", "response_text": "yes"}\n'


def queued(project: Project, dataset: Path, *targets: ScriptedTarget, **more: Any) -> StoredRun:
    asked: dict[str, Any] = {"dataset": dataset, "target": "scripted", **more}
    return asyncio.run(create_run(project.ports(*targets), RunOptions(**asked)))


def executed(project: Project, run: StoredRun, *targets: ScriptedTarget) -> FinishedRun:
    return asyncio.run(execute_run(project.ports(*targets), run.run_id, project.seen.append))


def kept(project: Project, run: StoredRun) -> Path:
    return project.root / ".steelyard" / "inputs" / run.run_id


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("{provider: command, command: [python3, agent.py]}", "runs code of the project's folder"),
        ("{provider: python, callable: 'agent:answer'}", "runs code of the project's folder"),
        (
            "{provider: http, url: 'http://h', answer: a, query: {api_key: '${NO:-abc}'}}",
            r"targets.t.query.api_key is written out in steelyard.yaml",
        ),
        (
            "{provider: http, url: 'http://h', answer: a, body: [{token: x, q: '{{ prompt }}'}]}",
            r"targets.t.body.token is written out in steelyard.yaml",
        ),
    ],
)
def test_a_target_that_cannot_be_kept_is_refused(entry: str, wrong: str, project: Project) -> None:
    project.write("agent.py", "def answer(prompt: str) -> str:\n    return 'yes'\n")
    project.write("steelyard.yaml", f"targets: {{t: {entry}}}\n")

    with pytest.raises(InvalidError, match=wrong):
        queued(project, project.cases([row("a")]), target="t")

    assert not (project.root / ".steelyard" / "inputs").exists()


HEADERS = {
    "X-Team": "planted-team",
    "Authorization": "Bearer planted-token",
    "X-Api-Key": "abc",
    "Cookie": "${NO:-planted-cookie}",
    "X-Named": "Bearer ${NAMED}",
}
SENT = {**HEADERS, "Cookie": "planted-cookie", "X-Named": "Bearer planted-variable"}
"""What an endpoint is sent."""


def live(url: str, headers: dict[str, str] = HEADERS) -> str:
    entry = {"provider": "openai", "base_url": url, "model": "m", "headers": headers}
    other = {**entry, "headers": {"X-Other": "planted-other"}}
    return json.dumps({"targets": {"t": entry, "other": other}})


def files_with(root: Path, text: bytes) -> list[Path]:
    files = (path for path in root.rglob("*") if path.is_file())
    return [path for path in files if text in path.read_bytes()]


@dataclass
class Endpoint:
    """Answers with secrets of its project, and remembers what it was sent."""

    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name: request.headers[name] for name in HEADERS})
        said = {"role": "assistant", "content": "planted-team, planted-other"}
        return web.json_response({**COMPLETION, "choices": [{"index": 0, "message": said}]})


def test_values_of_headers_are_sent_but_never_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED", "planted-variable")
    endpoint = Endpoint()
    with in_thread(serving(endpoint.answer)) as url:
        project.write("steelyard.yaml", live(url))
        run = queued(project, project.cases([row("a")]), target="t")
        waiting = files_with(project.root / ".steelyard", b"planted-")
        settings = (kept(project, run) / "steelyard.yaml").read_bytes()
        done = executed(project, run)

    assert waiting == []
    assert parse_settings(settings).targets["t"].object("headers") == {
        **dict.fromkeys(HEADERS, KEPT_ELSEWHERE),
        "X-Named": "Bearer ${NAMED}",
    }
    assert endpoint.headers == [SENT]
    (found,) = rows_of(done)
    assert found["model_response"] == "[redacted], [redacted]"
    assert files_with(project.root / ".steelyard", b"planted-") == []


@pytest.mark.parametrize(
    "later",
    [
        live("http://127.0.0.1:9/v1", {"X-Other": "planted-team"}),
        live("http://127.0.0.1:8/v1"),
        "{}",
    ],
    ids=["header", "address", "target"],
)
def test_a_run_is_not_executed_without_its_headers_but_can_be_cancelled(
    later: str, project: Project
) -> None:
    project.write("steelyard.yaml", live("http://127.0.0.1:9/v1", {"X-Team": "planted-team"}))
    run = queued(project, project.cases([row("a")]), target="t")
    project.write("steelyard.yaml", later)

    with pytest.raises(ConfigError, match="no longer has the header 'X-Team'"):
        executed(project, run)
    after = asyncio.run(cancel_run(project.ports(), project.ports().repository.find(run.run_id)))

    assert after.status == "cancelled"
    assert after.summary
    assert after.summary["cancelled_records"] == 1


def test_a_program_that_grades_is_refused(project: Project) -> None:
    project.write("steelyard.yaml", "allow: {commands: true}\n")
    grader = {"type": "code_judge", "name": "c", "script": "python3 grade.py"}

    with pytest.raises(InvalidError, match="graded by a program of the project's folder"):
        queued(project, project.cases([row("a", evaluators=[grader])]), target="echo")


@pytest.mark.parametrize("folder", ["{root}/../outside", "../outside", "link", "evals/../link"])
@pytest.mark.parametrize("option", ["dataset", "rubric", "responses"])
def test_a_file_outside_the_project_is_refused(option: str, folder: str, tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    files = {
        "dataset": project.cases([row("a")], "../outside/d.jsonl"),
        "rubric": project.write("../outside/r.yaml", RUBRIC),
        "responses": project.write("../outside/a.jsonl", RESPONSE),
    }
    (project.root / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    name = f"{folder.replace('{root}', str(project.root))}/{files[option].name}"
    dataset = project.cases([row("a")], "evals/d.jsonl")
    target = None if option == "responses" else "echo"
    asked: dict[str, Any] = {"dataset": dataset, "target": target}
    asked[option] = name if option == "rubric" else Path(name)

    with pytest.raises(InvalidError, match="lies outside the project"):
        queued(project, **asked)

    assert not (project.root / ".steelyard" / "inputs").exists()
    project.close()


def test_a_path_that_leaves_the_project_and_comes_back_is_refused(project: Project) -> None:
    dataset = Path("..", project.root.name, project.cases([row("a")]))

    with pytest.raises(InvalidError, match="lies outside the project"):
        queued(project, dataset, ScriptedTarget())


@pytest.mark.parametrize("name", ["../steelyard.yaml", "linked.md"])
def test_a_dataset_that_shows_the_project_file_is_refused(name: str, project: Project) -> None:
    content = [{"type": "file", "value": name}, {"type": "text", "value": "?"}]
    case = row("a", input=[{"role": "user", "content": content}])
    dataset = project.cases([case], "evals/d.jsonl")
    (project.root / "evals" / "linked.md").symlink_to("../steelyard.yaml")

    with pytest.raises(InvalidError, match="a queued run cannot keep a project file"):
        queued(project, dataset, ScriptedTarget())


def test_of_other_targets_variables_alone_are_kept(project: Project) -> None:
    project.write(
        "steelyard.yaml",
        "targets:\n"
        "  live: {provider: openai, base_url: 'http://u:hunter2@h/v1?api_key=hunter2', model: m,\n"
        "    api_key_env: MY_KEY, timeout_s: 5, response_format: {key: hunter2},\n"
        "    headers: {Authorization: hunter2, X-Token: 'Bearer ${OTHER:-hunter2}'}}\n"
        "  program: {provider: command, command: [x, --password, hunter2, '${A_TOKEN}']}\n"
        "  http: {provider: http, url: 'http://h', method: GET, body: {api_key: hunter2}}\n",
    )
    run = queued(project, project.cases([row("a")]), target="echo")
    kept_file = (kept(project, run) / "steelyard.yaml").read_bytes()
    targets = parse_settings(kept_file).targets

    assert b"hunter2" not in kept_file
    assert targets["live"].extra == {"headers": {"X-Token": "${OTHER}"}, "api_key_env": "MY_KEY"}
    assert targets["program"].extra == {"command": ["${A_TOKEN}"]}


@pytest.mark.parametrize("reference", ["rules.md", "/evals/linked.md", "{root}/evals/rules.md"])
def test_files_that_a_dataset_shows_are_kept(reference: str, project: Project) -> None:
    shown = project.write("evals/rules.md", "Say yes.")
    Path(shown.with_name("linked.md")).symlink_to(shown)
    value = reference.replace("{root}", str(project.root.resolve()))
    content = [{"type": "file", "value": value}, {"type": "text", "value": "?"}]
    case = row("a", input=[{"role": "user", "content": content}])
    run = queued(project, project.cases([case], "evals/d.jsonl"), ScriptedTarget())
    shutil.rmtree(project.root / "evals")
    done = executed(project, run, ScriptedTarget())

    (found,) = rows_of(done)
    assert found["status"] == "evaluated"
    assert "Say yes." in str(found["request"])
    assert not kept(project, run).exists()


def test_a_run_whose_copy_fails_is_not_made(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InvalidError("no space")

    monkeypatch.setattr("steelyard.store.spool.run_inputs.InputFolder._put", full)
    with pytest.raises(InvalidError, match="no space"):
        queued(project, project.cases([row("a")]), ScriptedTarget())

    with pytest.raises(NotFoundError):
        project.ports().repository.find("latest")


def test_settings_are_written_as_they_are_read() -> None:
    settings = parse_settings(
        b"targets: {t: {provider: http, url: 'http://h', body: {a: null}, price: {input: 2}}}\n"
        b"judges: {default: {target: t}, j: {samples: 3}}\n"
        b"limits: {deadline_s: 5}\nretry: {backoff_s: [0.5]}\nslices: [tags]\n"
        b"redaction: {patterns: [email], custom: {t: 'T[0-9]'}, fields: [metadata.x]}\n"
        b"allow: {folders: [x], env: [Y]}\nguideline_patterns: ['*.md']\ncluster: metadata.d\n"
    )

    assert parse_settings(write_settings(settings)) == settings


@pytest.mark.parametrize("text", ["\U0001f600", "é", "a\x85b", "a\u2028b", "\x7f", 'tab\t"\\'])
def test_any_text_of_the_settings_is_read_as_it_was(text: str) -> None:
    entry = TargetEntry(provider="echo", prompt=text)

    assert parse_settings(write_settings(Settings(targets={"t": entry}))).targets["t"] == entry
