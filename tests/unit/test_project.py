"""A project with its adapters, as the commands use it."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import steelyard
from fakes.definitions import DefinitionProject
from fakes.projects import Project, json_of, row, rows_of
from fakes.targets import ScriptedTarget
from steelyard import plugins
from steelyard.cli.opening import references_of
from steelyard.errors import InvalidError, NotFoundError, UnreadableFileError
from steelyard.event_loop import run_async
from steelyard.model.definition import reference_to
from steelyard.project import open_project
from steelyard.usecases.results.find_run import find_run_folder

TARGETS = """\
targets:
  cheap: {provider: echo, max_concurrency: 3, price: {input: 1.5}}
  live:
    provider: openai
    base_url: "http://127.0.0.1:1/v1"
    model: m-1
    temperature: 0.5
    api_key_env: A_KEY
    headers: {x-team: "a header value"}
"""
RESPONSES = (
    '{"record_id": "a", "candidate_name": "m1", "response_text": "no"}\n'
    '{"record_id": "a", "candidate_name": "m2", "response_text": "yes"}\n'
)
RUBRIC = """\
{id: first, version: 1.0.0, checks: [{id: c, kind: regex, pattern: y}], scoring: {combine: min}}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project in whose folder the user works."""
    made = Project(tmp_path.resolve())
    monkeypatch.chdir(made.root)
    yield made
    made.close()


def test_a_target_comes_with_what_a_plan_must_know(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "sk-0123456789")
    project.write("steelyard.yaml", TARGETS)
    ports = project.ports()
    cheap, live = ports.target("cheap"), ports.target("live")

    assert (cheap.max_concurrency, cheap.price, cheap.secrets) == (3, (1.5, 0.0), ())
    assert (live.model, live.sampling, live.price) == ("m-1", {"temperature": 0.5}, None)
    assert set(live.secrets) == {"sk-0123456789", "a header value"}
    assert live.response_source == "sampled"


@pytest.mark.parametrize(
    ("candidate", "name", "passed"), [("m1", "m1", False), ("m2", "m2", True), (None, "m1", False)]
)
def test_recorded_responses_are_graded_by_candidate(
    project: Project, candidate: str | None, name: str, passed: bool
) -> None:
    project.write("r.jsonl", RESPONSES)
    options = {"target": None, "responses": Path("r.jsonl"), "candidate": candidate}
    run = project.run(project.ports(), project.cases([row("a")]), **options)
    graded = rows_of(run)[0]

    assert (graded["target"], graded["passed"]) == (name, passed)
    assert graded["response_source"] == "prefilled"
    assert json_of(run)["model"] == name


def test_responses_of_nobody_in_particular_have_a_name_all_the_same(project: Project) -> None:
    project.write("r.jsonl", '{"record_id": "a", "response_text": "yes"}\n')
    options = {"target": None, "responses": Path("r.jsonl"), "candidate": ""}
    run = project.run(project.ports(), project.cases([row("a")]), **options)

    assert rows_of(run)[0]["target"] == "recorded"
    assert json_of(run)["model"] is None


@pytest.mark.parametrize("folder", [".", "rubrics"])
@pytest.mark.parametrize("name", ["first", "rubric/first@1.0.0", "rubrics/first.yaml"])
def test_a_rubric_is_found_from_every_folder_of_the_project(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, folder: str
) -> None:
    project.write("rubrics/first.yaml", RUBRIC)
    monkeypatch.chdir(project.root / folder)

    assert project.ports().rubric(name, strict=False).name == "rubric/first@1.0.0"


def test_the_folder_of_a_run_is_found_by_name_or_by_itself(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    older, run = (project.run(ports, project.cases([row("a")])) for _ in range(2))
    folder = Path(run.folder)
    names = (run.run_id, run.run_id, "latest", "latest~0", str(folder))

    opened = open_project(project.root)
    assert {opened.run_folder(name) for name in names} == {folder}
    assert opened.run_folder("latest~1") == Path(older.folder)
    assert opened.run_folder(str(folder.relative_to(project.root))) == folder
    for name in ("run_X", "latest~2", "latest~x"):
        with pytest.raises(NotFoundError, match=f"no run '{name}' in this project; `steelyard r"):
            opened.run_folder(name)


def test_a_changed_run_is_found_and_not_opened(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    path = Path(run.folder) / "metrics_by_slice.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b" ")

    opened = open_project(project.root)

    assert find_run_folder(opened.result_ports(), "latest") == path.parent
    with pytest.raises(UnreadableFileError, match=r"sealed: metrics_by_slice\.json \(changed\);"):
        opened.run_folder("latest")


def test_eval_cases_are_loaded(project: Project) -> None:
    cases = steelyard.load_eval_cases(project.root / project.cases([row("a")]))

    assert [case.id for case in cases] == ["a"]


def test_checks_of_other_packages_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", "fakes.checks:SaysMoo", "steelyard.checks")

    def installed(group: str) -> EntryPoints:
        return EntryPoints([point]).select(group=group)

    monkeypatch.setattr(plugins, "offered", installed)

    assert "says_moo" in plugins.installed_checks().kinds


@pytest.mark.parametrize("is_there", [True, False])
def test_the_loop_is_uvloops_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    if not is_there:
        monkeypatch.setitem(sys.modules, "uvloop", None)

    async def loop() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run_async(loop).startswith("uvloop" if is_there else "asyncio")


def test_rubrics_and_judges_of_the_current_project_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CR-24, JD-12"""
    project = DefinitionProject(tmp_path)
    project.write("steelyard.yaml", "{}\n")
    project.rubric("basic@1.2.0")
    project.questions("quality-v2")
    monkeypatch.chdir(tmp_path / "rubrics")

    assert str(reference_to(steelyard.load_rubric("basic", "1.2"))) == "rubric/basic@1.2.0"
    assert str(reference_to(steelyard.load_rubric("basic"))) == "rubric/basic@1.2.0"
    assert str(reference_to(steelyard.load_rubric("quality-v2"))) == "rubric/quality-v2"
    assert str(reference_to(steelyard.load_rubric("rubric/basic@1.2"))) == "rubric/basic@1.2.0"
    assert steelyard.load_judge("accuracy").name == "judge/accuracy@1.0.0"
    assert steelyard.load_judge("judge/accuracy", "1.0").name == "judge/accuracy@1.0.0"
    with pytest.raises(NotFoundError):
        steelyard.load_judge("accuracy", "2.0")


def test_rubrics_and_judges_of_another_project_are_loaded(tmp_path: Path) -> None:
    project = DefinitionProject(tmp_path)
    project.write("steelyard.yaml", "{}\n")
    path = project.rubric("basic@1.2.0").relative_to(tmp_path)

    with open_project(tmp_path) as opened:
        for name in ("basic", "rubric/basic", "rubric/basic@1.2.0", str(path)):
            rubric = steelyard.load_rubric(name, project=opened)
            assert str(reference_to(rubric)) == "rubric/basic@1.2.0"
        assert steelyard.load_judge("judge/accuracy@1.0.0", project=opened).id == "accuracy"
        with pytest.raises(InvalidError, match="'judge/accuracy' is no rubric; write rubric/id"):
            steelyard.load_rubric("judge/accuracy", project=opened)
        with pytest.raises(InvalidError, match="'basic@1@2' is no rubric"):
            steelyard.load_rubric("basic@1", "2", project=opened)
        with pytest.raises(InvalidError, match="'basic@' is no rubric"):
            steelyard.load_rubric("basic", "", project=opened)


def test_the_references_of_a_project_are_looked_up_once(tmp_path: Path) -> None:
    first, second = DefinitionProject(tmp_path / "a"), DefinitionProject(tmp_path / "b")
    for project in (first, second):
        project.write("steelyard.yaml", "{}\n")
    look_up = references_of(tmp_path)

    assert look_up(first.root / "x.yaml") is look_up(first.root / "deeper" / "y.yaml")
    assert look_up(first.root / "x.yaml") is not look_up(second.root / "x.yaml")


def test_a_run_is_found_from_another_folder(
    project: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    with open_project(project.root) as opened:
        assert opened.run_folder("latest") == Path(run.folder)


def test_threads_share_one_database(project: Project) -> None:
    with open_project(project.root) as opened, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(getattr, opened, "store") for _ in range(64)]
        stores = [one.result() for one in asked]

    assert {id(store) for store in stores} == {id(stores[0])}


def test_what_python_opens_is_closed_again(project: Project) -> None:
    dataset = project.cases([row("a")])
    run = steelyard.evaluate(dataset, target=str)

    def all_verbs() -> None:
        steelyard.read_run()
        steelyard.compare(run, "latest")
        steelyard.read_dataset(dataset)
        steelyard.load_eval_cases(dataset)
        with pytest.raises(NotFoundError):
            steelyard.load_rubric("gone")
        with pytest.raises(steelyard.SteelyardError):
            steelyard.evaluate(dataset, target="gone")

    all_verbs()
    before = _open_files()
    for _ in range(20):
        all_verbs()

    assert _open_files() <= before


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_closed_project_lets_go_of_its_store(project: Project) -> None:
    with open_project(project.root) as opened:
        store = weakref.ref(opened.store)
    gc.collect()

    assert store() is None


def test_a_project_has_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "steelyard.yaml"
    file.write_text("{}\n")

    with pytest.raises(NotFoundError, match="gone: no such folder"):
        open_project(tmp_path / "gone")
    with pytest.raises(NotFoundError, match=r"steelyard\.yaml: is a file, not a folder"):
        open_project(str(file))
