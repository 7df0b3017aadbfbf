"""What is old goes, what is not stays, and nobody takes the one for the other."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from fakes.audit import an_entry
from fakes.old_runs import CANARY, StoppingShelf, clear, later, old_run, shelf_of
from fakes.plans import plan
from fakes.projects import Project, row
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.project_file import parse_settings
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.pruned import RAW, SUMMARIES
from steelyard.results.stored_run import StoredRun
from steelyard.settings import RetentionSettings
from steelyard.store.artifacts import digest_of
from steelyard.usecases.results.pruned_files import pruned_files, pruned_on
from steelyard.usecases.results.read_run import read_predictions, read_run
from steelyard.usecases.results.verify import verify
from steelyard.usecases.runs.prune import plan_pruning, retention_of

pytestmark = pytest.mark.usefixtures("both_stores")


def states(folder: Path) -> dict[str, str]:
    """What `verify` says of every file."""
    return {file.name: file.state for file in verify(folder, digest_of).files}


def there(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def notes(project: Project) -> list[dict[str, object]]:
    text = (project.root / ".steelyard" / "pruned.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


SECOND = 1 / 86_400


@pytest.mark.parametrize(
    ("days", "goes", "is_last"),
    [
        (-1, (), False),
        (0, (), False),
        (30 - SECOND, (), False),
        (30, RAW, False),
        (180 - SECOND, RAW, False),
        (180, (*RAW, *SUMMARIES), True),
    ],
)
def test_raw_results_go_after_30_days_and_summaries_after_180(
    project: Project, days: float, goes: tuple[str, ...], is_last: bool
) -> None:
    folder = old_run(project)
    shelf = shelf_of(project)
    planned = plan_pruning(shelf, RetentionSettings(), later(project, days))

    assert [file.name for run in planned for file in run.files] == list(goes)
    assert [(run.run_id, run.rows, run.is_last) for run in planned] == (
        [(folder.name, 3 + 2 + 3, is_last)] if goes else []
    )
    assert [run.size for run in planned] == (
        [sum((folder / name).stat().st_size for name in goes)] if goes else []
    )
    assert there(folder) == set(ARTIFACTS)


@pytest.mark.parametrize(
    ("text", "older_than", "expected"),
    [
        ("{}", None, RetentionSettings()),
        ("retention: {raw_days: 40}", None, RetentionSettings(raw_days=40, summary_days=180)),
        (
            "retention: {raw_days: 40, summary_days: 400}",
            None,
            RetentionSettings(raw_days=40, summary_days=400),
        ),
        ("retention: {raw_days: 40}", 31, RetentionSettings(raw_days=31, summary_days=180)),
        ("retention: {raw_days: 40}", 365, RetentionSettings(raw_days=365, summary_days=180)),
    ],
)
def test_the_project_says_how_long_and_the_command_for_once(
    text: str, older_than: int | None, expected: RetentionSettings
) -> None:
    assert retention_of(parse_settings(text.encode()), older_than) == expected


def test_raw_results_cannot_go_sooner() -> None:
    with pytest.raises(RequestError, match="kept for 30 days or more, not for 29"):
        retention_of(parse_settings(b"{}"), 29)


def test_summaries_never_go_before_what_they_were_counted_from(project: Project) -> None:
    old_run(project)
    retention = RetentionSettings(raw_days=400, summary_days=180)

    assert plan_pruning(shelf_of(project), retention, later(project, 399)) == []
    assert plan_pruning(shelf_of(project), retention, later(project, 400))[0].is_last


def test_after_30_days_the_numbers_are_left(project: Project) -> None:
    folder = old_run(project)
    clear(project, 30)
    run = project.ports().repository.find("latest")

    assert there(folder) == set(SUMMARIES)
    assert states(folder) == {name: "pruned" if name in RAW else "intact" for name in ARTIFACTS}
    assert verify(folder, digest_of).is_intact
    assert read_run(folder).metrics.json() == run.summary
    assert shelf_of(project).rows(run.run_id) == 0
    assert [note["name"] for note in notes(project)] == list(RAW)
    assert notes(project)[0]["at"] == later(project, 30).isoformat(timespec="milliseconds")
    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 31)) == []


def test_after_180_days_a_line_is_left(project: Project) -> None:
    folder = old_run(project)
    clear(project, 30)
    clear(project, 180)
    run = project.ports().repository.find("latest")

    assert not folder.exists()
    assert (folder.parent).is_dir()
    assert states(folder) == dict.fromkeys(ARTIFACTS, "pruned")
    assert verify(folder, digest_of).run_id == folder.name
    assert (run.status, run.summary, run.plan) == ("completed_with_failures", None, None)
    assert [note["name"] for note in notes(project)] == [*RAW, *SUMMARIES]
    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 999)) == []


def test_nothing_of_it_is_left_anywhere(project: Project) -> None:
    old_run(project)
    everything = (project.root / ".steelyard").rglob
    before = [path for path in everything("*") if path.is_file()]
    assert any(CANARY.encode() in path.read_bytes() for path in before)

    clear(project, 30)
    project.close()

    left = [path for path in everything("*") if path.is_file()]
    assert [path.name for path in left if CANARY.encode() in path.read_bytes()] == []


def test_every_file_of_several_runs_is_noted_once(project: Project) -> None:
    folders = [old_run(project), old_run(project)]
    now = later(project, 31)
    shelf = shelf_of(project)
    planned = plan_pruning(shelf, RetentionSettings(), now)

    assert [run.run_id for run in planned] == [folder.name for folder in folders]
    clear(project, 31, shelf)
    clear(project, 31, shelf)
    assert len(notes(project)) == 2 * len(RAW)


def steps_of(tmp_path: Path, days: float) -> list[str]:
    """The named points of a `prune` that nobody stops."""
    project = Project(tmp_path / "whole")
    old_run(project)
    shelf = StoppingShelf(project, 99)
    clear(project, days, shelf)
    project.close()
    return shelf.steps


@pytest.mark.parametrize("days", [30, 180])
def test_the_notes_come_before_anything_goes(tmp_path: Path, days: float) -> None:
    files = RAW if days < 180 else (*RAW, *SUMMARIES)
    folder = ["folder"] if days == 180 else []
    expected = ["note", "forget", *(f"remove {name}" for name in files), *folder, "settle"]

    assert steps_of(tmp_path, days) == expected


@pytest.mark.parametrize("is_begun", [False, True])
@pytest.mark.parametrize(
    ("days", "step"),
    [
        pytest.param(days, step, marks=() if step % 4 == 1 else pytest.mark.trials)
        for days, steps in ((30, 8), (180, 12))
        for step in range(steps)
    ],
)
def test_wherever_it_is_stopped_nothing_is_missing_and_it_can_be_done_again(
    project: Project, days: float, step: int, is_begun: bool
) -> None:
    folder = old_run(project)
    with pytest.raises(Stopped):
        clear(project, days, StoppingShelf(project, step, is_begun=is_begun))

    halfway = verify(folder, digest_of)
    assert halfway.is_intact
    clear(project, days)

    assert there(folder) == (set(SUMMARIES) if days < 180 else set())
    assert verify(folder, digest_of).is_intact
    gone = set(states(folder)) if days >= 180 else set(RAW)
    assert {name for name, state in states(folder).items() if state == "pruned"} == gone
    assert set(pruned_files(folder)) == gone
    assert shelf_of(project).rows(folder.name) == 0
    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, days)) == []


@pytest.mark.parametrize("name", ["predictions.jsonl", "metrics_summary.json"])
def test_what_somebody_removed_stays_missing(project: Project, name: str) -> None:
    folder = old_run(project)
    (folder / name).unlink()
    clear(project, 30)

    assert states(folder)[name] == "missing"
    assert not verify(folder, digest_of).is_intact


@pytest.mark.parametrize("days", [30, 180])
def test_what_was_pruned_and_is_there_again_is_looked_at(project: Project, days: float) -> None:
    folder = old_run(project)
    clear(project, days)
    folder.mkdir(exist_ok=True)
    (folder / "predictions.jsonl").write_bytes(b"forged")

    assert states(folder)["predictions.jsonl"] == ("changed" if days < 180 else "unknown")
    assert not verify(folder, digest_of).is_intact


@pytest.mark.parametrize("change", [{"sha256": "0" * 64}, {"size": 1}, {"run_id": "run_2"}])
def test_a_note_about_another_file_is_not_believed(
    project: Project, change: dict[str, object]
) -> None:
    folder = old_run(project)
    clear(project, 30)
    changed = [{**note, **change} for note in notes(project)]
    text = "".join(json.dumps(note) + "\n" for note in changed)
    (project.root / ".steelyard" / "pruned.jsonl").write_text(text, encoding="utf-8")

    assert {states(folder)[name] for name in RAW} == {"missing"}


def test_a_copy_of_the_folder_has_no_notes(project: Project, tmp_path: Path) -> None:
    folder = old_run(project)
    clear(project, 30)
    folder.rename(tmp_path / "copy")

    assert states(tmp_path / "copy")["predictions.jsonl"] == "missing"


def test_a_run_that_can_be_gone_on_with_stays(project: Project) -> None:
    dataset = project.cases([row("a"), row("b")])
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=1)), dataset)
    started = project.ports().repository.find("latest")
    now = datetime.fromisoformat(started.created_at) + timedelta(days=365)

    assert plan_pruning(shelf_of(project), RetentionSettings(), now) == []


def test_a_run_that_one_going_on_is_made_from_stays(project: Project) -> None:
    folder = old_run(project)
    responses = folder.relative_to(project.root) / "predictions.jsonl"
    ports = project.ports(ScriptedTarget())
    child = StoredRun(
        run_id="run_child",
        status="queued",
        created_at="2026-01-15",
        dataset="d",
        plan=plan(options={"responses": str(responses)}),
    )
    ports.repository.create(child, an_entry(), ())

    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 365)) == []
    ports.repository.move("run_child", "failed", later(project, 1).isoformat())
    planned = plan_pruning(shelf_of(project), RetentionSettings(), later(project, 30))
    assert [run.run_id for run in planned] == [folder.name]


def test_a_run_that_failed_before_it_had_files_goes_too(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    at = "2026-01-15T00:00:00.000+00:00"
    run = StoredRun(run_id="run_1", status="queued", created_at=at, dataset="d", plan=plan())
    ports.repository.create(run, an_entry(), ())
    ports.repository.move("run_1", "failed", at)

    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 179)) == []
    clear(project, 180)
    assert ports.repository.find("run_1").plan is None
    assert plan_pruning(shelf_of(project), RetentionSettings(), later(project, 365)) == []


def test_whoever_reads_what_is_gone_is_told_when_it_went(project: Project) -> None:
    folder = old_run(project)
    day = later(project, 30).date().isoformat()
    clear(project, 30)
    numbers = "; `steelyard show` has the numbers"

    assert pruned_on(folder, "predictions.jsonl") == day
    assert pruned_on(folder, MANIFEST) is None
    with pytest.raises(NotFoundError) as told:
        list(read_predictions(folder))
    assert str(told.value) == f"predictions.jsonl of {folder.name} was pruned on {day}{numbers}"

    last = later(project, 180).date().isoformat()
    clear(project, 180)
    with pytest.raises(NotFoundError, match=f"{folder.name} was pruned on {last}; nothing is"):
        read_run(folder)
    with pytest.raises(NotFoundError, match=f"was pruned on {day}$"):
        list(read_predictions(folder))
    with pytest.raises(NotFoundError, match="was pruned; only its line in `steelyard runs`"):
        project.resume(project.ports(ScriptedTarget()))


def test_a_file_that_is_missing_without_a_note_is_not_called_pruned(project: Project) -> None:
    folder = old_run(project)
    (folder / "predictions.jsonl").unlink()

    assert pruned_on(folder, "predictions.jsonl") is None
    with pytest.raises(UnreadableFileError, match="cannot read"):
        list(read_predictions(folder))
