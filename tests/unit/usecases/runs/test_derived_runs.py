"""Runs made from finished runs: the failed records once more, or the stored traces graded anew."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from checker import check_run
from fakes.audit import an_entry
from fakes.projects import Project, json_of, row, rows_of, spec
from fakes.stops import Stopped, StoppingTarget, stopping_at_state
from fakes.targets import ScriptedTarget, fails
from steelyard.errors import ConflictError, NotFoundError, RequestError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.run_options import RunOptions
from steelyard.usecases.runs.cancel import cancel_run
from steelyard.usecases.runs.derived_runs import regrade_options, retry_options, warn_of_unanswered
from steelyard.usecases.runs.execute import FinishedRun, start_run
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare
from steelyard.usecases.runs.unanswered import Unanswered

pytestmark = pytest.mark.usefixtures("both_stores")
Record = dict[str, Any]
RUBRIC = """\
id: {name}
version: 1.0.0
checks: [{{id: c, kind: must_contain_any, phrases: [{phrase}]}}]
scoring: {{combine: all_pass}}
"""
MOODY = {
    "r1": [fails("timeout")],
    "r3": [fails("bad_request")],
    "r4": [RuntimeError("a bug")],
}
ROWS = [row(f"r{n}") for n in range(6)]


def document(count: int = 6, *, broken: tuple[int, ...] = ()) -> list[Record]:
    """Records of contract 2, of which some are invalid."""
    return [
        {"record_id": f"r{n}", "input": {} if n in broken else {"prompt": f"Say {n}."}}
        for n in range(count)
    ]


def start(ports: RunPorts, options: RunOptions) -> FinishedRun:
    async def run() -> FinishedRun:
        return await start_run(ports, prepare(ports, options), lambda _: None, lambda _: None)

    return asyncio.run(run())


def retry(project: Project, run: FinishedRun, target: ScriptedTarget) -> FinishedRun:
    return start(project.ports(target), retry_options(Path(run.folder)))


def no_target(name: str) -> TargetSpec:
    raise AssertionError(f"{name} was asked for")


def regrade(project: Project, folder: Path | str, rubric: str = "says_no") -> FinishedRun:
    """Grade under the rubric of a word; no target can be made."""
    phrase = rubric.removeprefix("says_")
    project.write(f"rubrics/{rubric}.yaml", RUBRIC.format(name=rubric, phrase=phrase))
    ports = replace(project.ports(), target=no_target)
    return start(ports, regrade_options(Path(folder), rubric))


def places(run: FinishedRun) -> list[tuple[int, str, int]]:
    return [(entry["index"], entry["record_id"], entry["repeat"]) for entry in rows_of(run)]


def asked_again(run: FinishedRun) -> list[tuple[int, str, int]]:
    """The places of the rows that the run itself has made."""
    rows = (entry for entry in rows_of(run) if "copied_from" not in entry)
    return [(entry["index"], entry["record_id"], entry["repeat"]) for entry in rows]


def statuses(run: FinishedRun) -> dict[int, str]:
    return {entry["index"]: entry["status"] for entry in rows_of(run)}


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_only_the_failed_records_are_tried_again(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(ROWS))
    before, target = contents(first.folder), ScriptedTarget()
    again = retry(project, first, target)

    check_run(Path(again.folder))
    assert sorted(request.case.id for request in target.calls) == ["r1", "r3", "r4"]
    assert asked_again(again) == [(1, "r1", 0), (3, "r3", 0), (4, "r4", 0)]
    assert places(again) == places(first)
    assert json_of(again, "metrics_summary.json")["copied"]["rows"] == 3
    assert again.status == "completed"
    assert again.run_id != first.run_id
    assert json_of(again)["derived_from"] == {
        "run_id": first.run_id,
        "how": "retry",
        "folder": f".steelyard/runs/{first.run_id}",
    }
    assert json_of(first)["derived_from"] is None
    assert contents(first.folder) == before


def test_an_invalid_record_was_a_failure_and_is_one_again(project: Project) -> None:
    rows = [{"id": "broken"}, *ROWS]
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(rows))
    again = retry(project, first, ScriptedTarget())

    check_run(Path(again.folder))
    assert statuses(again) == {0: "invalid_record", **dict.fromkeys(range(1, 7), "evaluated")}
    assert [index for index, _, _ in asked_again(again)] == [0, 2, 4, 5]


def test_cancelled_records_are_tried_again_and_skipped_ones_are_not(project: Project) -> None:
    graded = {"record_id": "g", "input": {"prompt": "?"}, "expected": {"max_latency_ms": 9000}}
    dataset = project.document([*document(1), graded])
    first = project.run(project.ports(ScriptedTarget()), dataset, budget_usd=0.0)
    assert statuses(first) == {0: "skipped", 1: "cancelled"}
    options = retry_options(Path(first.folder))
    again = start(project.ports(ScriptedTarget()), structs.replace(options, budget_usd=None))

    check_run(Path(again.folder))
    assert statuses(again) == {0: "skipped", 1: "evaluated"}
    assert [index for index, _, _ in asked_again(again)] == [1]


def test_only_the_failed_repeat_of_a_record_is_asked_again(project: Project) -> None:
    script = {"r2": ["yes", fails("bad_request")]}

    class OncePerRepeat(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if request.case.id == "r2" and request.repeat == 1:
                raise fails("bad_request")
            return await super().ask(request)

    first = project.run(project.ports(OncePerRepeat(script)), project.cases(ROWS), repeat=2)
    again = retry(project, first, ScriptedTarget())

    assert asked_again(again) == [(2, "r2", 1)]
    assert places(again) == places(first)


def test_a_selection_holds_for_what_is_tried_again(project: Project) -> None:
    rows = [row(f"r{n}", tags=["odd"] if n % 2 else []) for n in range(6)]
    target = ScriptedTarget(otherwise=fails("bad_request"))
    first = project.run(project.ports(target), project.cases(rows), where="tags ~ odd", limit=2)
    again = retry(project, first, ScriptedTarget())

    assert places(first) == places(again) == [(1, "r1", 0), (3, "r3", 0)]


def test_what_failed_again_is_tried_a_third_time(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(ROWS))
    second = retry(project, first, ScriptedTarget({"r4": [fails("bad_request")]}))
    third = retry(project, second, ScriptedTarget())

    check_run(Path(third.folder))
    assert asked_again(third) == [(4, "r4", 0)]
    marks = {entry.get("copied_from") for entry in rows_of(third)}
    assert marks == {None, first.run_id, second.run_id}
    assert json_of(third)["derived_from"]["run_id"] == second.run_id


def test_without_a_failed_record_there_is_nothing_to_try(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))

    with pytest.raises(RequestError, match=f"{run.run_id} has no failed record to try again"):
        retry_options(Path(run.folder))


def test_invalid_records_alone_are_nothing_to_try_again(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([*ROWS, {"id": "invalid"}]))
    target = ScriptedTarget()

    with pytest.raises(RequestError, match=f"{run.run_id} has no failed record to try again"):
        retry(project, run, target)
    assert target.calls == []
    assert project.ports().repository.find("latest").run_id == run.run_id


def test_an_invalid_record_that_is_valid_by_now_says_what_has_changed(project: Project) -> None:
    """Its file has come, so that it is another measurement."""
    files = [{"type": "file", "value": "page.md"}]
    shown = [{"role": "user", "content": files}]
    dataset = project.cases([*ROWS, row("shown", input=shown)])
    first = project.run(project.ports(ScriptedTarget()), dataset)
    project.write("page.md", "word")

    assert rows_of(first)[-1]["status"] == "invalid_record"
    with pytest.raises(ConflictError, match="a file that the dataset shows of run_"):
        retry(project, first, ScriptedTarget())


@pytest.mark.parametrize("derive", [retry_options, partial(regrade_options, rubric="r")])
def test_a_run_that_is_not_finished_has_nothing_to_derive_from(
    project: Project, derive: Callable[[Path], RunOptions]
) -> None:
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=2)), project.cases(ROWS))
    run_id = project.ports().repository.find("latest").run_id

    with pytest.raises(NotFoundError, match=r"holds no run_manifest\.json: no finished run"):
        derive(project.root / ".steelyard" / "runs" / run_id)


def derived(project: Project, run: FinishedRun, how: str) -> FinishedRun:
    """The same run, derived one way or the other."""
    if how == "retry":
        return retry(project, run, ScriptedTarget())
    return regrade(project, run.folder)


@pytest.mark.parametrize("how", ["retry", "regrade"])
@pytest.mark.parametrize("name", ["d.jsonl", "input_dataset.jsonl"])
def test_a_dataset_that_has_changed_is_refused(project: Project, how: str, name: str) -> None:
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(ROWS, name))
    project.cases([*ROWS, row("new")], name)

    with pytest.raises(
        RequestError, match=f"{name} has changed since {first.run_id}; start a new"
    ):
        derived(project, first, how)


def test_a_dataset_that_has_the_name_of_the_artifact_is_compared_like_any_other(
    project: Project,
) -> None:
    name = "input_dataset.json"
    project.write("rubrics/says_yes.yaml", RUBRIC.format(name="says_yes", phrase="yes"))
    dataset = project.document(document(), name)
    first = project.run(project.ports(ScriptedTarget()), dataset, rubric="says_yes")
    project.document(document(7), name)

    with pytest.raises(RequestError, match="has changed since"):
        regrade(project, first.folder)


@pytest.mark.parametrize("how", ["retry", "regrade"])
def test_a_dataset_that_is_gone_is_refused_where_the_folder_holds_none(
    project: Project, how: str
) -> None:
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(ROWS))
    (project.root / "d.jsonl").unlink()

    with pytest.raises(RequestError, match=rf"the dataset of {first.run_id} is gone: d\.jsonl"):
        derived(project, first, how)


def graded_document(project: Project, target: ScriptedTarget, **options: Any) -> FinishedRun:
    """A run over a document whose first and third records are invalid."""
    project.write("rubrics/says_yes.yaml", RUBRIC.format(name="says_yes", phrase="yes"))
    dataset = project.document(document(broken=(0, 2)))
    return project.run(project.ports(target), dataset, rubric="says_yes", **options)


def test_a_document_is_regraded_from_its_folder_alone(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = graded_document(project, ScriptedTarget(MOODY, otherwise="no"))
    folder = Path(first.folder).rename(tmp_path_factory.mktemp("elsewhere") / "run")
    other = Project(tmp_path_factory.mktemp("other").resolve())
    again = regrade(other, folder)
    other.close()

    check_run(Path(again.folder))
    assert places(again) == [(n, f"r{n}", 0) for n in range(6)]
    assert statuses(again) == {
        **dict.fromkeys((0, 2), "invalid_record"),
        1: "timeout",
        3: "evaluation_error",
        4: "evaluation_error",
        5: "evaluated",
    }
    assert rows_of(again)[-1]["passed"] is True
    assert json_of(again, "input_dataset.json")["records"][-1]["record_id"] == "r5"


def test_a_document_whose_file_is_gone_is_not_asked_about_again(project: Project) -> None:
    """What its folder holds is redacted."""
    first = graded_document(project, ScriptedTarget(MOODY))
    (project.root / "d.json").unlink()
    target = ScriptedTarget()

    with pytest.raises(RequestError, match=r"the dataset of run_\w+ is gone: d\.json"):
        retry(project, first, target)
    assert target.calls == []


def test_a_document_that_was_gone_when_its_run_ended_is_not_regraded(project: Project) -> None:
    """Its folder has the hashes of its records alone."""
    with pytest.raises(Stopped):
        graded_document(project, StoppingTarget(after=2), max_concurrency=1)
    (project.root / "d.json").unlink()
    ports = project.ports()
    run = asyncio.run(cancel_run(ports, ports.repository.find("latest")))
    folder = project.root / ".steelyard" / "runs" / run.run_id
    assert "evaluated" in (folder / "predictions.jsonl").read_text(encoding="utf-8")

    with pytest.raises(ConflictError, match=rf"{run.run_id} ended when its dataset could not be"):
        regrade(project, folder)


def test_stored_traces_are_graded_and_no_target_is_called(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget({"r1": ["no"]})), project.cases(ROWS))
    again = regrade(project, first.folder)

    check_run(Path(again.folder))
    assert [entry["passed"] for entry in rows_of(first)] == [True, False, True, True, True, True]
    assert [entry["passed"] for entry in rows_of(again)] == [False, True] + [False] * 4
    assert [entry["trace"] for entry in rows_of(again)] == [
        entry["trace"] for entry in rows_of(first)
    ]
    assert {entry["response_source"] for entry in rows_of(again)} == {"prefilled"}
    assert json_of(again)["rubrics"][0]["rubric"] == "rubric/says_no@1.0.0"
    assert json_of(again)["derived_from"]["how"] == "regrade"
    assert json_of(again)["derived_from"]["run_id"] == first.run_id


def test_a_regraded_run_names_the_model_and_sampling_of_its_answers(project: Project) -> None:
    sampling = {"temperature": 0.2, "seed": 7}
    asked = replace(spec(ScriptedTarget()), model="m-1", sampling=sampling)
    first = project.run(project.ports(asked), project.cases(ROWS))
    again = regrade(project, regrade(project, first.folder).folder, "says_yes")
    names = ("model", "temperature", "top_p", "max_new_tokens", "seed")

    assert [json_of(first)[name] for name in names] == ["m-1", 0.2, None, None, 7]
    assert [json_of(again)[name] for name in names] == ["m-1", 0.2, None, None, 7]


def test_several_targets_and_repeats_are_regraded_each_by_itself(project: Project) -> None:
    rows = [row("a", execution={"target": "one"}), row("b", execution={"target": "two"})]
    one, two = ScriptedTarget(name="one", otherwise="no"), ScriptedTarget(name="two")
    first = project.run(project.ports(one, two), project.cases(rows), target=None, repeat=3)
    again = regrade(project, first.folder)

    check_run(Path(again.folder))
    assert places(again) == places(first)
    assert [(entry["target"], entry["passed"]) for entry in rows_of(again)] == [
        *[("one", True)] * 3,
        *[("two", False)] * 3,
    ]


@pytest.mark.parametrize("source", ["responses", "conversation"])
def test_what_was_recorded_is_regraded_like_an_answer(project: Project, source: str) -> None:
    said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "no"}]
    dataset = project.cases([row("a", input=said)])
    options: dict[str, Any] = {"target": None, "from_conversation": True}
    if source == "responses":
        recorded = {"record_id": "a", "candidate_name": "ann", "response_text": "no"}
        project.write("r.jsonl", json.dumps(recorded))
        options = {"target": None, "responses": Path("r.jsonl"), "candidate": "ann"}
    first = project.run(project.ports(), dataset, **options)
    again = regrade(project, first.folder)

    check_run(Path(again.folder))
    assert [entry["passed"] for entry in rows_of(again)] == [True]


def test_what_was_never_asked_stays_as_it_was_and_is_counted(project: Project) -> None:
    """Of a record that was asked only sometimes, the rest was cancelled too."""

    class Stopping(ScriptedTarget):
        async def ask(self, request: Any) -> Any:
            if len(self.calls) == 3:
                project.ports().repository.request_cancel(
                    project.ports().repository.find("latest").run_id, an_entry()
                )
                await asyncio.sleep(30)
            return await super().ask(request)

    ports = project.ports(Stopping(otherwise="no"))
    first = project.run(ports, project.cases(ROWS), repeat=2, max_concurrency=1)
    assert first.status == "cancelled"
    again = regrade(project, first.folder)

    check_run(Path(again.folder))
    assert [(entry["record_id"], entry["status"]) for entry in rows_of(again)] == [
        ("r0", "evaluated"),
        ("r0", "evaluated"),
        ("r1", "evaluated"),
        *[(name, "cancelled") for name in ("r1", "r2", "r2", "r3", "r3", "r4", "r4", "r5", "r5")],
    ]
    assert again.status == "completed_with_failures"
    before, after = json_of(first, "metrics_summary.json"), json_of(again, "metrics_summary.json")
    same = ("total", "valid", "evaluated", "failed", "skipped", "cancelled")
    assert [after[f"{name}_records"] for name in same] == [6, 6, 2, 0, 4, 4]
    assert [before[f"{name}_records"] for name in same] == [6, 6, 2, 0, 4, 4]
    assert after["missing"] == {"missing": 4, "valid": 6, "uneven_slices": []}
    assert (after["failure_rows"], after["unscored_repeats"]) == (9, 1)
    assert after["pass_rate_bounds"] == {"low": 0.25, "high": 1.0}
    failures = rows_of(again, "failures.jsonl")
    assert {one["label"] for one in failures} == {"cancelled"}
    assert {one["message"] for one in failures} == {
        f"no answer in {first.run_id}: the run was cancelled{then}"
        for then in ("", "; the request may have been sent")
    }
    warnings: list[str] = []
    warn_of_unanswered(warnings.append, Unanswered(Path(first.folder), first.run_id))
    (said,) = warnings
    assert said.startswith(
        "4 record(s) have no answer to grade (4 cancelled); they are in the new"
    )
    third = regrade(project, again.folder)
    assert rows_of(third, "failures.jsonl") == failures
    assert json_of(third, "metrics_summary.json")["pass_rate_bounds"] == after["pass_rate_bounds"]


def dead(_: str) -> bool:
    return False


def test_a_run_in_which_nothing_was_answered_is_not_regraded(project: Project) -> None:
    ports = stopping_at_state(project.ports(ScriptedTarget()), "running")
    with pytest.raises(Stopped):
        project.run(replace(ports, owner="gone:1:1"), project.cases(ROWS))
    other = project.ports(is_alive=dead)
    run = asyncio.run(cancel_run(other, other.repository.find("latest")))

    with pytest.raises(RequestError, match=r"none of 6 record\(s\) has an answer to grade"):
        regrade(project, project.root / ".steelyard" / "runs" / run.run_id)


def test_what_a_run_could_not_read_is_unread_in_what_is_regraded(project: Project) -> None:
    """Its dataset is back by then, but nobody has answered those records."""
    dataset = project.cases([*ROWS, {"id": "invalid"}])
    with pytest.raises(Stopped):
        project.run(project.ports(StoppingTarget(after=2)), dataset, max_concurrency=1)
    (project.root / "d.jsonl").rename(project.root / "away.jsonl")
    ports = project.ports()
    run = asyncio.run(cancel_run(ports, ports.repository.find("latest")))
    (project.root / "away.jsonl").rename(project.root / "d.jsonl")
    again = regrade(project, project.root / ".steelyard" / "runs" / run.run_id)
    before, after = run.summary or {}, json_of(again, "metrics_summary.json")

    check_run(Path(again.folder))
    assert again.status == "completed_with_failures"
    assert json_of(again)["unread"] == f"{run.run_id}: no such file: d.jsonl"
    for name in ("total", "valid", "evaluated", "invalid", "skipped", "cancelled", "unread"):
        assert after[f"{name}_records"] == before[f"{name}_records"]
    assert (after["total_records"], after["valid_records"]) == (7, 6)
    assert 0 < after["unread_records"] < 7
    assert after["missing"] == before["missing"]


def test_a_regraded_run_is_regraded_again_but_not_tried_again(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(ROWS))
    second = regrade(project, first.folder)
    third = regrade(project, second.folder, "says_yes")

    check_run(Path(third.folder))
    assert [entry["passed"] for entry in rows_of(third)] == [
        entry["passed"] for entry in rows_of(first)
    ]
    with pytest.raises(
        RequestError,
        match=f"{second.run_id} asked no target: it grades what {first.run_id} was answered",
    ):
        retry_options(Path(second.folder))


@pytest.mark.parametrize("how", ["retry", "regrade"])
def test_a_derived_run_that_was_stopped_goes_on_from_any_folder(
    project: Project, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [*ROWS, {"id": "invalid"}]
    first = project.run(project.ports(ScriptedTarget(MOODY)), project.cases(rows))
    monkeypatch.chdir(Path(first.folder).parent)
    named = Path(first.run_id)
    project.write("rubrics/says_no.yaml", RUBRIC.format(name="says_no", phrase="no"))
    options = retry_options(named) if how == "retry" else regrade_options(named, "says_no")
    ports = project.ports(ScriptedTarget()) if how == "retry" else project.ports()
    with pytest.raises(Stopped):
        start(stopping_at_state(ports, "finalizing"), options)
    monkeypatch.chdir("/")
    again = project.resume(project.ports(ScriptedTarget()) if how == "retry" else project.ports())

    check_run(Path(again.folder))
    assert json_of(again)["derived_from"]["folder"] == f".steelyard/runs/{first.run_id}"
    assert len(rows_of(again)) == 7


def test_a_derived_run_does_not_go_on_once_its_parent_was_changed(project: Project) -> None:
    first = project.run(project.ports(ScriptedTarget()), project.cases(ROWS))
    project.write("rubrics/says_no.yaml", RUBRIC.format(name="says_no", phrase="no"))
    options = regrade_options(Path(first.folder), "says_no")
    with pytest.raises(Stopped):
        start(stopping_at_state(project.ports(), "finalizing"), options)
    path = Path(first.folder) / "predictions.jsonl"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b"\n")

    with pytest.raises(
        RequestError, match=r"is not what was sealed: predictions\.jsonl \(changed\)"
    ):
        project.resume(project.ports())


def test_what_a_question_set_refers_to_is_looked_up_in_a_derived_run_too(
    project: Project,
) -> None:
    project.write("rubrics/says_yes.yaml", RUBRIC.format(name="says_yes", phrase="yes"))
    project.write("rubrics/other.yaml", RUBRIC.format(name="other", phrase="yes"))
    project.write(
        "q.yaml",
        "questions:\n"
        "  - {id: a, input: '?', rubric_ref: rubric/says_yes@1.0.0}\n"
        "  - {id: b, input: '?', rubric_ref: rubric/other@1.0.0}\n",
    )
    target = ScriptedTarget({"b": [fails("bad_request")], "a": [fails("bad_request")]})
    first = project.run(project.ports(target), Path("q.yaml"))
    (project.root / "rubrics" / "other.yaml").unlink()
    again = retry(project, first, ScriptedTarget())

    check_run(Path(again.folder))
    assert statuses(again) == {0: "evaluated", 1: "invalid_record"}


PEOPLE = ("ann@example.com", "bob@example.com", "cleo@example.com")
SAYS = {"ann@example.com": ["no"], "bob@example.com": ["yes"], "cleo@example.com": ["no"]}


def passes(run: FinishedRun) -> list[tuple[str, bool]]:
    return [(entry["record_id"], entry["passed"]) for entry in rows_of(run)]


@pytest.mark.parametrize("is_kept", [True, False], ids=["the file", "its redacted copy"])
def test_records_whose_ids_are_redacted_are_regraded_by_their_places(
    project: Project, is_kept: bool
) -> None:
    project.write("rubrics/says_yes.yaml", RUBRIC.format(name="says_yes", phrase="yes"))
    records = [{"record_id": name, "input": {"prompt": "?"}} for name in PEOPLE]
    dataset = project.document(records)
    ports = project.ports(ScriptedTarget(SAYS))
    first = project.run(ports, dataset, rubric="says_yes")
    if not is_kept:
        (project.root / dataset).unlink()
    again = regrade(project, first.folder)

    check_run(Path(again.folder))
    assert passes(first) == [("[redacted:email]", passed) for passed in (False, True, False)]
    assert passes(again) == [("[redacted:email]", passed) for passed in (True, False, True)]


def test_responses_of_a_run_are_found_by_place_and_hash_and_else_by_id(project: Project) -> None:
    rows = [row(name) for name in (*PEOPLE, "dora", "emil")]
    script = {**SAYS, "dora": ["no"], "emil": ["yes"]}
    first = project.run(project.ports(ScriptedTarget(script)), project.cases(rows))
    responses = Path(first.folder) / "predictions.jsonl"
    # Of those that stand elsewhere or have changed by now, only the id can tell.
    moved = [*rows[:3], rows[4], {**rows[3], "input": "Other?"}]
    again = project.run(
        project.ports(), project.cases(moved), target=None, responses=responses, candidate=None
    )

    check_run(Path(again.folder))
    assert passes(again) == [
        *(("[redacted:email]", passed) for passed in (False, True, False)),
        ("emil", True),
        ("dora", False),
    ]


def test_a_redacted_id_leads_to_no_response_of_a_record_that_has_changed(
    project: Project,
) -> None:
    first = project.run(
        project.ports(ScriptedTarget(SAYS)), project.cases([row(name) for name in PEOPLE])
    )
    other = project.cases([row(name, input="Other?") for name in PEOPLE])
    ports, opened = project.ports(), list[TargetSpec]()

    def recorded(path: Path, candidate: str | None) -> TargetSpec:
        opened.append(ports.recorded(path, candidate))
        return opened[-1]

    with pytest.raises(RequestError, match=r"3 selected pair\(s\) have no recorded response"):
        project.prepare(
            replace(ports, recorded=recorded),
            other,
            responses=Path(first.folder) / "predictions.jsonl",
            target=None,
        )
    asyncio.run(opened[0].target.close())


def test_a_retry_is_refused_once_its_rubric_has_changed(project: Project) -> None:
    project.write("rubrics/r.yaml", RUBRIC.format(name="r", phrase="yes"))
    target = ScriptedTarget({"b": [fails("bad_request")]})
    cases = project.cases([row("a"), row("b")])
    first = project.run(project.ports(target), cases, rubric="rubric/r@1.0.0")
    project.write("rubrics/r.yaml", RUBRIC.format(name="r", phrase="no"))

    with pytest.raises(ConflictError, match=f"a rubric of {first.run_id} has changed since"):
        retry(project, first, ScriptedTarget())


def test_a_retry_is_refused_once_its_target_is_another_program(project: Project) -> None:
    target = ScriptedTarget({"b": [fails("bad_request")]})
    first = project.run(project.ports(target), project.cases([row("a"), row("b")]))
    project.write("steelyard.yaml", "targets: {scripted: {provider: echo}}\n")

    with pytest.raises(ConflictError, match=r"targets\.scripted is not what .* its provider was"):
        start(project.ports(), retry_options(Path(first.folder)))
