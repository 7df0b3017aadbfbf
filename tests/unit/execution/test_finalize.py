"""What a run leaves behind: the manifest, the input, and refusals when they would be wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from checker import check_run
from fakes.metrics import measured
from fakes.projects import Project, json_of, row, rows_of, spec
from fakes.stops import Stopped, StoppingTarget
from fakes.targets import ScriptedTarget
from steelyard import __version__
from steelyard.errors import RunError
from steelyard.execution.finalize import cost_beyond
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.usecases.runs import prepare as prepare_module
from steelyard.usecases.runs.execute import start_run

KEY = "sk-0123456789abcdef"
RECORDS = [
    {"record_id": "a", "input": {"prompt": "é?"}, "expected": {"max_latency_ms": 100}},
    {"record_id": "b", "input": 7},
    {"record_id": "c", "input": {"prompt": "?"}, "expected": {"max_latency_ms": 100}},
]


def test_the_manifest_says_what_was_run_and_how(project: Project) -> None:
    sampling = {"temperature": 0.2, "top_p": 0.9, "max_new_tokens": 99, "seed": 7}
    ports = project.ports(spec(ScriptedTarget(), model="m-1", sampling=sampling))
    run = project.run(ports, project.document(RECORDS, created_at="2026-01-15T10:05:12Z"))
    manifest = json_of(run)

    assert {name: manifest[name] for name in sampling} == sampling
    assert (manifest["run_id"], manifest["model"]) == (run.run_id, "m-1")
    assert (manifest["dataset_id"], manifest["dataset_version"]) == ("d", "1")
    assert manifest["schema_version"] == "1.0"
    assert manifest["harness"] == {"name": "steelyard", "version": __version__}
    assert manifest["targets"] == {"scripted": {"provider": "scripted"}}
    assert manifest["options"]["dataset"] == "d.json"
    assert set(manifest["environment"]) == {"python", "platform", "implementation"}
    assert manifest["redaction"] == {
        "secrets": 0,
        "patterns": dict.fromkeys(("email", "phone", "card", "iban", "key"), 0),
        "version": "3",
    }


def test_the_manifest_has_the_times_of_all_states(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    manifest = json_of(run)
    times = {entry["state"]: entry["at"] for entry in manifest["states"]}

    assert list(times) == ["queued", "validating", "running", "finalizing", "completed"]
    assert manifest["created_at"] == times["queued"]
    assert manifest["started_at"] == times["running"]
    assert manifest["completed_at"] == times["completed"]
    assert list(times.values()) == sorted(times.values())


def test_the_manifest_names_the_rubric_with_its_hash(project: Project) -> None:
    checks = "[{id: c, kind: regex, pattern: 'y'}]"
    project.write(
        "rubrics/first.yaml",
        f"{{id: first, version: 1.0.0, checks: {checks}, scoring: {{combine: all_pass}}}}",
    )
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]), rubric="first")
    named = json_of(run)["rubrics"][0]

    assert (named["rubric"], named["combine"]) == ("rubric/first@1.0.0", "all_pass")
    assert len(named["sha256"]) == 64


def test_a_dataset_without_a_version_is_known_by_its_hash(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))
    manifest = json_of(run)

    assert manifest["dataset_version"] == f"sha256:{manifest['source']['d.jsonl']}"
    assert manifest["schema_version"] == "eval_cases"


def test_the_accepted_records_of_a_document_are_kept_as_they_are(project: Project) -> None:
    dataset = project.document(RECORDS, metadata={"owner": "us"}, unknown=[1])
    run = project.run(project.ports(ScriptedTarget()), dataset)
    kept = json_of(run, "input_dataset.json")

    assert kept["records"] == [RECORDS[0], RECORDS[2]]
    assert (kept["metadata"], kept["unknown"]) == ({"owner": "us"}, [1])
    assert (kept["dataset_id"], kept["schema_version"]) == ("d", "1.0")


def test_of_other_contracts_the_hashes_are_kept(project: Project) -> None:
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a"), {"id": "bad"}]))
    kept = json_of(run, "input_dataset.json")
    hashes = [entry["record_sha256"] for entry in rows_of(run)]

    assert kept["records"] == [{"index": 0, "record_id": "a", "record_sha256": hashes[0]}]
    assert list(kept["source"]) == ["d.jsonl"]


def test_a_sidecar_is_part_of_the_source(project: Project) -> None:
    project.write("d.yaml", "dataset: help\n")
    run = project.run(project.ports(ScriptedTarget()), project.cases([row("a")]))

    assert set(json_of(run)["source"]) == {"d.jsonl", "d.yaml"}
    assert json_of(run)["dataset_id"] == "help"


class Changing(ScriptedTarget):
    """Somebody changes the dataset during the first call."""

    def __init__(self, change: Callable[[], object]) -> None:
        super().__init__()
        self._change = change

    async def ask(self, request: Request) -> Trace:
        """The answer, after the change."""
        if not self.calls:
            self._change()
        return await super().ask(request)


def test_a_dataset_that_changes_while_a_run_goes_on_must_be_put_back(project: Project) -> None:
    dataset = project.cases([row("a"), row("b")])
    path = project.root / dataset
    old = path.rename(project.root / "old.jsonl")
    path.write_bytes(old.read_bytes())
    other = project.root / project.cases([row("c")], "other.jsonl")

    with pytest.raises(RunError, match=r"d\.jsonl has changed while run_.* was going on; put the"):
        project.run(project.ports(Changing(lambda: other.replace(path))), dataset)
    old.replace(path)
    run = project.resume(project.ports(ScriptedTarget()))
    check_run(Path(run.folder))

    assert measured(run).total_records == 2


def test_results_of_a_dataset_that_had_changed_are_never_those_of_the_old_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long JSONL is read row by row: what is appended meanwhile is never asked nor kept."""
    monkeypatch.setattr(prepare_module, "KEPT_BYTES", 0)
    dataset = project.cases([row("a"), row("b")])
    old = (project.root / dataset).read_text(encoding="utf-8")
    new = old + json.dumps(row("c")) + "\n"
    changing = Changing(lambda: project.write("d.jsonl", new))

    with pytest.raises(RunError, match="has changed while"):
        project.run(project.ports(changing), dataset, max_concurrency=1)
    project.write("d.jsonl", old)
    run = project.resume(project.ports(ScriptedTarget()))
    check_run(Path(run.folder))

    assert measured(run).total_records == 2


@pytest.mark.parametrize("more", [{"id": "bad"}, {"no": "id"}, "text", {"id": 1, "input": [1]}])
def test_what_is_no_row_any_more_stops_a_run_that_goes_on_with_the_old_file(
    project: Project, monkeypatch: pytest.MonkeyPatch, more: object
) -> None:
    monkeypatch.setattr(prepare_module, "KEPT_BYTES", 0)
    dataset = project.cases([row("a"), row("b")])
    old = (project.root / dataset).read_text(encoding="utf-8")
    changing = Changing(lambda: project.write("d.jsonl", old + json.dumps(more) + "\n"))

    with pytest.raises(RunError, match="has changed while"):
        project.run(project.ports(changing), dataset, max_concurrency=1)
    project.write("d.jsonl", old)
    run = project.resume(project.ports(ScriptedTarget()))

    assert measured(run).total_records == 2


def planted(project: Project) -> Path:
    """A dataset with the key wherever a user can write."""
    return project.cases(
        [
            row("a", input=f"use {KEY}", tags=[KEY], conversation_id=KEY),
            row(KEY, input="?"),
            row("b", metadata={KEY: KEY}),
            {"id": f"bad {KEY}"},
        ]
    )


def test_no_secret_is_in_anything_that_was_written(project: Project) -> None:
    dataset = planted(project)
    target = ScriptedTarget({"b": [RuntimeError(f"refused {KEY}")]}, otherwise=f"I know {KEY}")
    run = project.run(project.ports(spec(target, secrets=(KEY,))), dataset)
    check_run(Path(run.folder))
    kept = [path for path in (project.root / ".steelyard").rglob("*") if path.is_file()]

    assert len(kept) >= 9
    assert [path.name for path in kept if KEY.encode() in path.read_bytes()] == []
    assert json_of(run)["redaction"]["secrets"] > 10


def test_a_run_that_was_stopped_counts_its_redactions_as_one_that_was_not(
    project: Project, tmp_path: Path
) -> None:
    whole = Project(tmp_path / "whole")
    target = spec(ScriptedTarget(otherwise=KEY), secrets=(KEY,))
    expected = json_of(whole.run(whole.ports(target), planted(whole)))["redaction"]
    whole.close()
    stopping = StoppingTarget(after=1)
    stopping.otherwise = KEY
    with pytest.raises(Stopped):
        project.run(project.ports(spec(stopping, secrets=(KEY,))), planted(project))
    run = project.resume(project.ports(target))

    assert json_of(run)["redaction"] == expected


def test_a_store_that_fails_at_the_end_can_be_gone_on_with(project: Project) -> None:
    """No space for the artifacts: a clear error, and the same result when there is some."""
    dataset = project.cases([row("a")])
    runs = project.root / ".steelyard" / "runs"
    ports = project.ports(ScriptedTarget())
    runs.write_text("in the way", encoding="utf-8")
    prepared = project.prepare(ports, dataset)
    with pytest.raises(RunError, match="cannot write "):
        asyncio.run(start_run(ports, prepared, lambda _: None, lambda _: None))
    runs.unlink()
    rest = ScriptedTarget()
    run = project.resume(project.ports(rest))
    check_run(Path(run.folder))

    assert rest.calls == []
    assert measured(run).evaluated_records == 1


@pytest.mark.parametrize(
    ("cost", "copied", "beyond"),
    [(0.1 + 0.2, 0.3, 0.0), (0.3, 0.1 + 0.2, 0.0), (0.3, 0.1, 0.2), (3e-8, 1e-8, 2e-8)],
)
def test_a_derived_run_that_spends_nothing_has_cost_nothing(
    cost: float, copied: float, beyond: float
) -> None:
    assert cost_beyond(cost, copied) == beyond
