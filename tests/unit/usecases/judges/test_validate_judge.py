"""A validation from its plan to what is kept, in a project with recorded judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.audit import an_entry
from fakes.judged_desk import (
    REF,
    Response,
    drawn,
    label,
    reply,
    write_judged_desk,
    write_rows,
)
from steelyard.errors import RequestError
from steelyard.execution.run_options import RunOptions
from steelyard.model.judge import Judge
from steelyard.model.run import VALIDATION
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.validation import JuryCounts
from steelyard.project import open_project
from steelyard.reports.judges.correction import corrected_text
from steelyard.reports.judges.judge_validation import JudgeValidationReport
from steelyard.usecases.correction.current_view import current_view
from steelyard.usecases.judges.current_instruments import current_fingerprints
from steelyard.usecases.judges.judge_standing import standings
from steelyard.usecases.judges.validate_judge import (
    ValidationPorts,
    ValidationRequest,
    plan_validation,
    validate_judge,
)
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.prepare import prepare

RESPONSES = drawn(40, 0.6, seed=4)
PANEL = """\
id: panel
version: 1.0.0
checks:
  - id: both
    kind: llm_judge
    jury: {judges: [{judge_prompt_ref: judge/right@1.0.0}, {judge_prompt_ref: judge/fair@1.0.0}]}
scoring: {combine: all_pass}
"""


def _ignore(_: object) -> None:
    """Nobody looks on."""


class Desk:
    """A desk in the current folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[ValidationPorts] = []

    def ports(self) -> ValidationPorts:
        """One that is closed in the end."""
        made = open_project().validation_ports()
        self.opened.append(made)
        return made

    def run(self, rubric: str = "rubric/quality@1.0.0") -> str:
        """A run of the desk; its id."""
        ports = self.ports().run
        options = RunOptions(dataset=Path("desk.yaml"), target="desk", rubric=rubric)
        done = asyncio.run(start_run(ports, prepare(ports, options), _ignore, _ignore))
        return done.run_id

    def validate(self, **request: Any) -> JudgeValidationReport:
        """A validation by the labels of the desk."""
        known: dict[str, Any] = {
            "judge": REF,
            "labels": Path("labels.jsonl"),
            "design": "random",
            "split": "all",
            "has_canaries": False,
            **request,
        }
        ports = self.ports()
        plan = plan_validation(ports, ValidationRequest(**known))
        return asyncio.run(validate_judge(ports, plan, _ignore, _ignore))


MakeDesk = Callable[..., Desk]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a desk; what it opened is closed afterwards."""
    made: list[Desk] = []

    def make(labels: list[dict[str, Any]] | None = None, **more: Any) -> Desk:
        root = write_judged_desk(tmp_path.resolve(), RESPONSES, **more)
        rows = [label(one) for one in RESPONSES] if labels is None else labels
        write_rows(root / "labels.jsonl", rows)
        monkeypatch.chdir(root)
        made.append(Desk(root))
        return made[-1]

    yield make
    for one in made:
        for ports in one.opened:
            ports.run.repository.close()


def test_verdicts_of_a_run_are_compared_and_kept(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    report = here.validate(runs=(run_id,))
    again = here.validate(runs=(run_id,))

    assert report.validation.counts.tp == sum(one.is_good and one.is_passed for one in RESPONSES)
    assert (report.kept, again.kept) == ("recorded", "unchanged")
    assert (report.test_reads, again.test_reads) == (1, 2)
    assert [run.run_id for run in report.runs] == [run_id]
    assert report.runs[0].corrected
    assert report.runs[0].corrected.method == "post-stratified by verdict"
    assert report.validation.applicable_to == ("fees", "loans")
    assert open_project().validations.all() == (report.validation,)


@pytest.mark.parametrize("changed", ["", "judges/right.yaml", "replies.jsonl"])
def test_a_judge_that_is_changed_after_its_validation_has_never_been_validated(
    desk: MakeDesk, changed: str
) -> None:
    here = desk()
    here.validate(runs=(here.run(),))
    if changed:
        path = here.root / changed
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("Is this right", "Is it right") + "\n", encoding="utf-8")

    ports = here.ports().run
    judges = [one.content for one in ports.references.known("judge")]
    listed = [one for one in judges if isinstance(one, Judge)]
    stood = standings(ports, listed, asyncio.run(current_fingerprints(ports, {REF})))[REF]

    assert stood.state == ("never validated" if changed else "validated")
    assert (stood.rates is None) == bool(changed)


def test_labels_that_contradict_one_of_several_runs_are_refused_by_its_name(
    desk: MakeDesk,
) -> None:
    """Of the second run mostly fails of the judge are labelled, and called a random choice."""
    here = desk()
    first, second = here.run(), here.run()
    failed = [one for one in RESPONSES if not one.is_passed]
    own = [label(one, run_id=first) for one in RESPONSES]
    passed = [one for one in RESPONSES if one.is_passed and one.is_good]
    own += [label(one, run_id=second) for one in (*failed[:12], *passed[:3])]
    write_rows(here.root / "labels.jsonl", own)
    report = here.validate(runs=(first, second))
    alone = here.validate(runs=(second,))

    assert (report.refusals, report.kept) == ((), "recorded")  # the same responses, labelled twice
    assert "20.0 % of the labelled responses (p < 0.001)" in alone.refusals[0]
    assert alone.kept == "refusal recorded"


def test_runs_that_labels_name_need_no_naming(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    write_rows(here.root / "labels.jsonl", [label(one, run_id=run_id) for one in RESPONSES])

    assert here.validate().validation.counts.n == 40


def test_a_judge_is_asked_now_and_its_run_is_not_the_latest(desk: MakeDesk) -> None:
    here = desk([label(one) for one in RESPONSES[:20]])
    run_id = here.run()
    report = here.validate(
        dataset=Path("desk.yaml"), responses=Path("responses.jsonl"), threshold=0.5
    )
    runs = here.opened[0].run.repository

    assert (report.validation.counts.n, report.validation.rule) == (20, "llm_judge at 0.5")
    assert report.runs == ()
    assert runs.find("latest").run_id == run_id
    assert [str(run.group_id).startswith(VALIDATION) for run in runs.list(9)] == [True, False]


def test_a_jury_is_validated_as_a_whole(desk: MakeDesk) -> None:
    here = desk()
    (here.root / "rubrics" / "panel.yaml").write_text(PANEL, encoding="utf-8")
    fair = (here.root / "judges" / "right.yaml").read_text(encoding="utf-8")
    (here.root / "judges" / "fair.yaml").write_text(
        fair.replace("id: right", "id: fair"), encoding="utf-8"
    )
    write_rows(
        here.root / "replies.jsonl",
        (
            {
                "record_id": one.name,
                "judge": judge,
                "check": "both",
                "response_text": reply(int(one.is_passed)),
            }
            for one in RESPONSES
            for judge in ("right", "fair")
        ),
    )
    run_id = here.run("rubric/panel@1.0.0")
    report = here.validate(
        judge="rubric/panel@1.0.0", runs=(run_id,), rubric="rubric/quality@1.0.0"
    )
    now = here.validate(
        judge="rubric/panel@1.0.0", dataset=Path("desk.yaml"), responses=Path("responses.jsonl")
    )

    jury = cast(JuryCounts, report.jury)

    assert report.validation.judge == "rubric/panel@1.0.0 both"
    assert [one.judge for one in jury.jurors] == ["judge/right@1.0.0", "judge/fair@1.0.0"]
    assert {one.counts for one in jury.jurors} == {report.validation.counts}
    assert (jury.n, round(jury.effective_votes or 0, 9)) == (len(RESPONSES), 1.0)
    assert report.validation.rule == "jury (mean; weights 1, 1) at 0.7"
    assert now.validation.counts == report.validation.counts
    with pytest.raises(RequestError, match="is a rubric, and holds no validation"):
        here.validate(judge="rubric/panel@1.0.0", runs=(run_id,), is_written=True)


def test_canaries_are_tried_with_the_rubric_of_the_run(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    silent = here.validate(runs=(run_id,), has_canaries=True).validation.canaries
    with (here.root / "replies.jsonl").open("a", encoding="utf-8") as stream:
        for canary, value in (("empty", 0), ("praise", 1)):
            for one in RESPONSES:
                row = {"record_id": f"{canary} {one.name}", "judge": "right", "check": "right"}
                stream.write(json.dumps({**row, "response_text": reply(value)}) + "\n")
    tally = here.validate(runs=(run_id,), has_canaries=True).validation.canaries

    assert silent.asked >= 3 * 10
    assert (silent.unscored, silent.rate) == (silent.asked, None)  # nothing was recorded
    assert (tally.passed, tally.asked - tally.unscored, tally.rate) == (3, 6, 0.5)
    assert tally.passed_ids == ("praise",)
    counts = {one.id: (one.asked, one.passed, one.unscored) for one in tally.by_canary}
    assert (counts["empty"], counts["praise"]) == ((3, 0, 0), (3, 3, 0))
    assert counts["order"] == (3, 0, 3)


def test_annotations_of_the_project_are_labels_as_well(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    rows = [label(one, run_id=run_id) for one in RESPONSES]
    here.opened[0].review.annotations.keep(rows, an_entry(), is_replacing=False)
    found = here.validate(labels=None).validation

    assert (found.counts.n, found.validated_against) == (40, "annotations of the project")


def test_a_dataset_that_has_changed_leaves_canaries_and_scope_open(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    text = (here.root / "desk.yaml").read_text(encoding="utf-8")
    (here.root / "desk.yaml").write_text(text.replace("Question 0", "Query 0"), encoding="utf-8")
    report = here.validate(runs=(run_id,), has_canaries=True)

    assert report.kept == "recorded"
    assert report.validation.applicable_to is None
    assert report.validation.canaries.why_not == "there is no case to try them on"
    assert "has changed since" in report.notes[0]


def test_a_judge_without_a_target_meets_no_canaries(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    settings = (here.root / "steelyard.yaml").read_text(encoding="utf-8")
    changed = settings.replace("judges: {default: {target: judge}}\n", "")
    (here.root / "steelyard.yaml").write_text(changed, encoding="utf-8")
    tally = here.validate(runs=(run_id,), has_canaries=True).validation.canaries

    assert (tally.asked, "has no target" in tally.why_not) == (0, True)


def test_examples_never_count_and_must_lie_in_train(desk: MakeDesk) -> None:
    here = desk()
    judge = here.root / "judges" / "right.yaml"
    text = judge.read_text(encoding="utf-8")

    def shown(name: str) -> None:
        judge.write_text(f"{text}examples: [{{id: {name}, text: Right.}}]\n", encoding="utf-8")

    shown("q4")  # in train
    run_id = here.run()
    assert here.validate(runs=(run_id,)).validation.counts.n == 39
    shown("q1")  # in test
    run_id = here.run()
    with pytest.raises(RequestError, match="'q1' is an example of the judge"):
        here.validate(runs=(run_id,))


@pytest.mark.parametrize(("least", "is_good"), [(0.1, True), (0.99, False)])
def test_a_gate_is_about_lower_bounds_and_what_was_found_is_kept(
    desk: MakeDesk, least: float, is_good: bool
) -> None:
    here = desk()
    report = here.validate(runs=(here.run(),), fail_under=least)

    assert (report.is_good, report.kept) == (is_good, "recorded")


@pytest.mark.parametrize("name", ["rubric/quality@1.0", "rubric/quality@1.0.0", "rubric/quality"])
def test_a_rubric_has_one_name_however_it_is_written(desk: MakeDesk, name: str) -> None:
    here = desk()
    run_id = here.run()
    first = here.validate(judge="rubric/quality@1.0.0", runs=(run_id,))
    again = here.validate(judge=name, runs=(run_id,))

    assert again.validation.judge == first.validation.judge == "rubric/quality@1.0.0 right"
    assert (first.test_reads, again.test_reads) == (1, 2)


@pytest.mark.parametrize("name", ["rubric/nope@1.0", "rubric/quality@2.0.0"])
def test_a_run_of_another_rubric_tells_nothing_of_this_one(desk: MakeDesk, name: str) -> None:
    here = desk()
    run_id = here.run()

    with pytest.raises(RequestError, match=r"was not graded by .*, but by rubric/quality@1\.0\.0"):
        here.validate(judge=name, runs=(run_id,))


def test_labels_that_are_all_left_out_were_not_read(desk: MakeDesk) -> None:
    here = desk([label(one, exposure="suggested") for one in RESPONSES])
    run_id = here.run()
    unread = here.validate(runs=(run_id,))

    assert (unread.is_good, unread.test_reads, unread.validation.counts.n) == (False, None, 0)


def test_refusals_are_recorded_and_dev_labels_are_not(desk: MakeDesk) -> None:
    here = desk([{**row, "passed": not row["passed"]} for row in map(label, RESPONSES)])
    run_id = here.run()
    refused = here.validate(runs=(run_id,))
    dev = here.validate(runs=(run_id,), split="dev")

    assert (refused.kept, refused.is_good, refused.runs) == ("refusal recorded", False, ())
    assert (dev.kept, dev.test_reads) == ("not recorded", None)
    assert [one.refusals for one in open_project().validations.all()] == [refused.refusals]


@pytest.mark.parametrize("is_few", [True, False], ids=["two labels", "one class"])
def test_too_few_labels_are_no_verdict_on_the_judge(desk: MakeDesk, *, is_few: bool) -> None:
    here = desk()
    run_id = here.run()
    kept = here.validate(runs=(run_id,))
    good = [label(one) for one in RESPONSES if one.is_good]
    write_rows(here.root / "labels.jsonl", good[:2] if is_few else good)
    few = here.validate(runs=(run_id,))

    assert (kept.kept, few.kept, few.is_good) == ("recorded", "not recorded", False)
    assert [one.refusals for one in open_project().validations.all()] == [()]


def test_a_judge_of_very_many_questions_is_known_by_the_registry_alone(
    desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = desk()
    monkeypatch.setattr("steelyard.usecases.judges.validate_judge.MOST_FINGERPRINTS", 0)
    report = here.validate(runs=(here.run(),), is_written=True)

    assert report.written == "judges/right.yaml"
    assert "too many for its file" in report.notes[-1]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"dataset": Path("desk.yaml")}, "go together"),
        ({"labels": None}, "keeps no annotations"),
        ({"judge": "judge/none@1.0.0"}, "none@1.0.0"),
        ({}, "say whose verdicts are compared"),
        ({"runs": ("run_x",)}, "no run 'run_x'"),
        (
            {"dataset": Path("desk.yaml"), "responses": Path("responses.jsonl"), "runs": ("a",)},
            "leave out `dataset`",
        ),
    ],
)
def test_what_cannot_begin_is_told_before_anything_is_asked(
    desk: MakeDesk, request_: dict[str, Any], said: str
) -> None:
    here = desk()

    with pytest.raises(RequestError, match=said):
        here.validate(**request_)
    assert here.opened[0].run.repository.list(9) == []


def test_labels_of_another_dataset_are_told(desk: MakeDesk) -> None:
    here = desk([label(Response("other", 1, is_good=True, is_passed=True))])

    with pytest.raises(RequestError, match="has none of the labelled records"):
        here.validate(dataset=Path("desk.yaml"), responses=Path("responses.jsonl"))


def test_a_run_of_another_project_is_as_it_was(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    view = read_run(here.root / ".steelyard" / "runs" / run_id)

    project = open_project()
    assert current_view(view, project.validations.all(), project.clock.now()) is view


def queue_labels(run_id: str, queue: str, of: list[Response], chance: float) -> list[Any]:
    """Labels that people gave in a queue."""
    more = {"run_id": run_id, "queue_id": queue, "inclusion_prob": chance}
    return [label(one, **more) for one in of]


def test_labels_of_queues_with_other_chances_are_not_mixed(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    large = queue_labels(run_id, "queue_a", RESPONSES[:30], 0.75)
    small = queue_labels(run_id, "queue_b", RESPONSES[20:], 0.5)
    write_rows(here.root / "labels.jsonl", [*large, *small])
    with pytest.raises(RequestError) as refused:
        here.validate(runs=(run_id,), design=None)
    with pytest.raises(RequestError) as unknown:
        here.validate(runs=(run_id,), design=None, queue="queue_c")
    first = here.validate(runs=(run_id,), design=None, queue="queue_a")
    second = here.validate(runs=(run_id,), design=None, queue="queue_b")

    assert "queue_a (30), queue_b (20) labelled; name one queue" in str(refused.value)
    assert "no label was given in 'queue_c'; queues with labels: queue_a, queue_b" in str(
        unknown.value
    )
    assert first.validation.counts.n == 30
    assert {one.inclusion_prob for one in first.validation.items} == {0.75}
    assert (first.labels, first.validation.left_out.other_queues) == (50, 20)
    assert second.validation.counts.n == 20
    # the run is corrected by the queue with most labels, whichever was compared last
    assert not second.refusals
    corrected = second.runs[0].corrected
    assert corrected is not None
    project = open_project()
    view = read_run(project.run_folder(run_id))
    now = current_view(view, project.validations.all(), project.clock.now())
    rate = now.metrics.corrected_pass_rate
    assert rate is not None
    assert (rate.labels, rate.queue_id) == (30, "queue_a")
    assert "30 labels of these responses in" in corrected_text(rate)
    assert "given in queue_a" in corrected_text(rate)


def test_a_newer_validation_of_another_queue_takes_the_place_of_a_refused_one(
    desk: MakeDesk,
) -> None:
    here = desk()
    run_id = here.run()
    good = queue_labels(run_id, "queue_a", RESPONSES[:30], 0.75)
    contrary = [
        {**row, "annotator": "bob", "passed": not row["passed"]}
        for row in queue_labels(run_id, "queue_b", RESPONSES, 0.9)
    ]
    write_rows(here.root / "labels.jsonl", [*good, *contrary])
    project = open_project()
    folder = project.run_folder(run_id)

    def rate() -> CorrectedRate:
        now = current_view(read_run(folder), project.validations.all(), project.clock.now())
        assert now.metrics.corrected_pass_rate is not None
        return now.metrics.corrected_pass_rate

    assert here.validate(runs=(run_id,), design=None, queue="queue_b").refusals
    refused = rate()
    assert not here.validate(runs=(run_id,), design=None, queue="queue_a").refusals

    assert refused.value is None
    assert "refused by its newest validation" in (refused.reason or "")
    assert (rate().labels, rate().queue_id) == (30, "queue_a")


def test_labels_of_queues_that_have_every_record_are_one_design(desk: MakeDesk) -> None:
    here = desk()
    run_id = here.run()
    whole = queue_labels(run_id, "queue_a", RESPONSES, 1.0)
    others = [{**row, "annotator": "odile", "queue_id": "queue_b"} for row in whole]
    write_rows(here.root / "labels.jsonl", [*whole, *others])

    assert here.validate(runs=(run_id,)).validation.counts.n == 40
