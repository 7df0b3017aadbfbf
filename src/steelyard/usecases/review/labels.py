"""Check labels against their rubric, their run and its traces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from steelyard.contracts.labels.reader import label_of
from steelyard.contracts.question_rubric.answers import By, read_answers
from steelyard.errors import RequestError
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.model.labels.annotation import Revision, Wanted
from steelyard.model.labels.label import Label
from steelyard.model.question import Answers, QuestionRubric
from steelyard.model.reference import Reference, exact_name
from steelyard.results.projections import ReviewedPrediction
from steelyard.usecases.registry.references import References
from steelyard.usecases.review.ports import Annotations, ReviewPorts
from steelyard.usecases.review.reviewed_runs import RunResponses, read_responses

_TURN = re.compile(r"turn_([0-9]{1,9})")
_OWED = "missing_required_field"


class KnownRubrics:
    """The question rubrics of a project, each looked up once."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._found: dict[str, QuestionRubric | str] = {}

    def find(self, name: str) -> QuestionRubric | str:
        """The rubric of a reference or an id; or why it has no questions."""
        if name not in self._found:
            self._found[name] = self._look_up(name)
        return self._found[name]

    def questions(self, name: str) -> QuestionRubric | None:
        """The same without the reason."""
        found = self.find(name)
        return found if isinstance(found, QuestionRubric) else None

    def is_under_other_content(self, label: Label) -> bool:
        """Whether a label was given for other content than the rubric has now."""
        now = self.sha256(label.rubric)
        return now is not None and label.rubric_sha256 not in {None, now}

    def sha256(self, name: str) -> str | None:
        """The content hash of a rubric of any kind; None if there is none."""
        reference = _reference(name)
        content = self._references.find(reference).content if reference else None
        return None if content is None else content.sha256

    def whole_name(self, name: str) -> str:
        """The name under which labels of a rubric are stored, however it is written."""
        found = self.questions(name)
        if found:
            return str(found.reference)
        reference = Reference.parse(f"rubric/{name}") if "@" in name else None
        is_rubric = reference is not None and self._references.find(reference).content is not None
        return exact_name(str(reference) if is_rubric else name)

    def _look_up(self, name: str) -> QuestionRubric | str:
        reference = _reference(name)
        if reference is None:
            return f"'{name}' is no reference to a rubric; write rubric/id"
        found = self._references.find(reference)
        # An archived rubric takes no new runs, but its labels still count.
        if isinstance(found.content, QuestionRubric):
            return found.content
        if found.content is not None:
            return f"{reference} has checks and no questions; say 'passed' instead of answers"
        problem = found.problems[0]
        return f"{problem.message} ({problem.hint})" if problem.hint else problem.message


def _reference(name: str) -> Reference | None:
    reference = Reference.parse(name if "/" in name else f"rubric/{name}")
    return reference if reference and reference.kind == "rubric" else None


class LabelReader:
    """Checks incoming labels; reads each rubric and each run once."""

    def __init__(self, ports: ReviewPorts, run: str | None = None) -> None:
        self._ports = ports
        self.rubrics = KnownRubrics(ports.references)
        self.redact = ports.redactor()
        self._runs: dict[str, RunResponses | str] = {}
        self._default: str | None = None
        if run is not None:
            found = read_responses(ports.run_folder(run))
            self._runs[found.run_id] = found
            self._default = found.run_id

    def placed(self, label: Label) -> tuple[Label, list[Finding]]:
        """A label with its run and the id of its record in that run."""
        wrong, row = self._about(label)
        name = self.redact.text(label.record_id)
        run_id = label.run_id or self._default
        run = self._runs.get(run_id) if run_id else None
        if row is not None and isinstance(run, RunResponses):
            name = run.names[row.index]
        return replace(label, run_id=run_id, record_id=name), wrong

    def answers(self, label: Label, value: JsonValue) -> tuple[Answers, list[Finding]]:
        """Check the answers of a label against its rubric and the turns of its trace."""
        rubric = self.rubrics.find(label.rubric)
        about, row = self._about(label)
        why = rubric if isinstance(rubric, str) else about[0].message if about else None
        if isinstance(rubric, str) or why:
            # The path is relative to the answers.
            return Answers(), [_wrong("", f"cannot be checked: {why}")]
        found, findings = read_answers(value, rubric, turns=row.turns if row else 0)
        return found, findings if row else [_without_run(finding) for finding in findings]

    def _about(self, label: Label) -> tuple[list[Finding], ReviewedPrediction | None]:
        """The response of a label, if it has a run; or the problem."""
        run_id = label.run_id or self._default
        if run_id is None:
            return [], None
        run = self._run(run_id)
        if isinstance(run, str):
            return [_wrong("run_id", run)], None
        name = self.redact.text(label.record_id)
        row = run.find(name, label.repeat)
        if row is None or row.trace is None:
            missing = _missing(run, name, label.repeat, row.status if row else None)
            return [_wrong("record_id", missing)], None
        return [], row

    def _run(self, name: str) -> RunResponses | str:
        if name not in self._runs:
            try:
                self._runs[name] = read_responses(self._ports.known_run(name))
            except RequestError as error:
                self._runs[name] = str(error)
        return self._runs[name]


def stored_labels(
    annotations: Annotations,
    wanted: Wanted,
    rubrics: KnownRubrics,
    only: Callable[[Label], bool] | None = None,
) -> Iterator[Label]:
    """The stored labels that count, without answers that no longer fit their rubric.

    `only` says which labels are looked at.
    """
    found = annotations.all(wanted)
    looked_at = (one for one in found if only is None or only(label_of(one.row)))
    for revision in counting(looked_at, rubrics):
        label = label_of(revision.row)
        if "answers" not in revision.row:
            yield label
            continue
        rubric = rubrics.questions(label.rubric)
        given = revision.row["answers"]
        yield replace(label, answers=fitting(given, rubric)[0] if rubric else Answers())


def counting(revisions: Iterable[Revision], rubrics: KnownRubrics) -> Iterator[Revision]:
    """One label by each person about each response, also if they met it in several queues.

    Two answers of one person are not independent. A label under the present content of the rubric
    goes before others, then a blind one, then one of a record that was not picked, then the
    earliest.
    """
    for _, found in groupby(revisions, key=_response_of):
        yield min(found, key=lambda one: _preference(one, rubrics))


def _response_of(revision: Revision) -> tuple[str | int | None, ...]:
    label = label_of(revision.row)
    return label.rubric, label.run_id, label.record_id, label.repeat, label.annotator


def _preference(revision: Revision, rubrics: KnownRubrics) -> tuple[bool, bool, bool, str]:
    label = label_of(revision.row)
    is_other = rubrics.is_under_other_content(label)
    return is_other, not label.is_blind, label.is_picked, revision.at


def fitting(value: JsonValue, rubric: QuestionRubric, by: By = "person") -> tuple[Answers, int]:
    """The answers that fit a rubric, and the number that do not; missing answers are allowed."""
    sheets = value.get("turns") if isinstance(value, dict) else None
    numbers = [_TURN.fullmatch(name) for name in sheets] if isinstance(sheets, dict) else []
    turns = max((int(found[1]) for found in numbers if found), default=0)
    answers, findings = read_answers(value, rubric, turns=turns, by=by)
    return answers, sum(finding.code != _OWED for finding in findings)


def _missing(run: RunResponses, name: str, repeat: int, status: str | None) -> str:
    shown = f"'{name}'" + (f" (repeat {repeat})" if repeat else "")
    if status is not None:
        return f"{shown} of {run.run_id} has no response ({status})"
    if run.is_ambiguous(name):
        return f"several records of {run.run_id} are called {shown}; name one by its index"
    return f"no record {shown} in {run.run_id}"


def _wrong(path: str, message: str) -> Finding:
    return Finding(severity="error", code="dangling_reference", path=path, message=message)


def _without_run(finding: Finding) -> Finding:
    if not finding.path.startswith("turns"):
        return finding
    return replace(finding, hint="a label without run_id is about no trace; name its run")
