"""Labels of people: export those of a queue, import files of them, validate the judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec
from starlette.responses import Response, StreamingResponse

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.findings import FindingBody, finding_bodies
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.api.resources.review.annotator_bodies import AnswersBody
from steelyard.api.resources.run_changes import queued_run
from steelyard.api.resources.uploads import MAX_JSON, in_turn, received
from steelyard.api.result_notes import viewer_of
from steelyard.errors import InvalidError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.label import Exposure
from steelyard.model.statistics.interval import Interval
from steelyard.project import Project
from steelyard.stats.confusion import known_rates
from steelyard.usecases.datasets.uploads import Upload
from steelyard.usecases.judges.validate_queue import validate_from_queue
from steelyard.usecases.review.import_labels import LabelFile
from steelyard.usecases.review.label_csv import label_csv
from steelyard.usecases.review.label_tables import TableOptions
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.queues.posted_labels import import_posted_labels
from steelyard.usecases.review.queues.queue_rows import queue_rows

_TABLES = (".csv", ".tsv")
_ENDINGS = (".jsonl", *_TABLES)


class QueueLabelBody(msgspec.Struct, frozen=True):
    """The answers of one person to one item, or the decision of an adjudicator."""

    record_id: str
    """The record."""
    run_id: str
    """The run whose response was answered about."""
    rubric: str
    """The rubric that was answered."""
    annotator: str
    """Who answered; of a gold label, who decided."""
    exposure: Exposure
    """What they had seen before."""
    queue_id: str
    """The queue."""
    answers: AnswersBody
    """The answers."""
    repeat: int = 0
    """Which of the run's responses to the record."""
    inclusion_prob: float | None = None
    """The probability with which the item was drawn."""
    stratum: str | None = None
    """The stratum that it was drawn from."""
    rubric_sha256: str | None = None
    """The content of the rubric under which it was answered."""
    gold: dict[str, Any] | None = None
    """Of a gold label: its time and the answers that it was decided from; else null."""


class LabelExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of the file."""

    format: Literal["jsonl", "csv"] = "jsonl"
    """One label a line, or a table with a column for each question."""


class LabelImportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of labels does not say itself."""

    name: str | None = None
    """The name of the file; its ending, .jsonl, .csv or .tsv, says how it is read."""
    run: str | None = None
    """The run of labels without a `run_id`."""
    rubric: str | None = None
    """The rubric of rows of a table that name none."""
    annotator: str | None = None
    """The person of rows of a table that name none."""
    exposure: Exposure | None = None
    """What people had seen before, if a table does not say it."""
    names: str | None = None
    """The columns of fields and questions of a table, such as `record_id=Case,passed=Good?`."""
    replace: bool = False
    """Whether earlier labels are replaced; these are kept as history."""


class ImportedLabelsBody(msgspec.Struct, frozen=True):
    """What became of the rows of a file: read = imported + same + refused."""

    read: int
    """Labels."""
    imported: int
    """Labels that are new."""
    same: int
    """Labels that were stored already."""
    refused: int
    """Labels that were not stored; a finding says why."""
    replaced: int
    """Imported labels that replace an earlier one."""
    unfilled: int
    """Rows of a table without an answer."""
    gold: int
    """Gold labels, which stay with their queue."""
    renamed: int
    """Annotators stored under a pseudonym, because their names are personal data."""
    redacted: dict[str, int]
    """Redactions by kind."""
    findings: list[FindingBody]
    """The problems of single rows."""


class JudgeRateBody(msgspec.Struct, frozen=True):
    """A rate with its 95 % interval."""

    value: float | None
    """The rate; null if nothing was compared."""
    low: float | None
    """The lower end."""
    high: float | None
    """The upper end."""
    n: int
    """The number of labels."""


class LeftOutBody(msgspec.Struct, frozen=True):
    """Labels of the queue that a validation does not count; items from `other_splits` on."""

    not_blind: int
    """Labels of people who had seen what the judge or others said."""
    picked: int
    """Labels of records that somebody picked, not chance."""
    other_rubrics: int
    """Labels of another rubric."""
    other_content: int
    """Labels under other content of the rubric."""
    other_runs: int
    """Labels of responses of other runs."""
    no_run: int
    """Labels that name no run."""
    no_pass: int
    """Labels that say neither pass nor fail."""
    other_splits: int
    """Items that lie in other splits."""
    ties: int
    """Items about which as many people say yes as no."""
    without_judgement: int
    """Items without a verdict of the judge."""
    unscored: int
    """Items for which the judge was asked and has no score."""


class ValidatedBody(msgspec.Struct, frozen=True):
    """A judge as the blind labels of a queue see it."""

    judge: str
    """The judge that was validated."""
    check: str
    """The check in which it answers."""
    queue_id: str
    """The queue."""
    labels: int
    """The labels of the queue: no others."""
    split: str
    """The split whose items are compared: `test`."""
    splits: dict[str, int]
    """How many items of each split have labels that count."""
    left_out: LeftOutBody
    """What is not compared, by the reason."""
    sample_size: int
    """The items that were compared."""
    annotators: int
    """The people who gave them."""
    tpr: JudgeRateBody
    """The share of good responses that the judge passes."""
    tnr: JudgeRateBody
    """The share of bad responses that it fails."""
    notes: list[str]
    """What to know about it."""


def _list(call: Call[PageQuery, None]) -> JsonReply:
    """What everybody has submitted, with names, then gold labels. Whoever asks is not blind about
    these items any more."""
    rows = [*enumerate(_rows(call))]
    page = page_of(rows, lambda one: str(one[0]), call.query)
    data = [msgspec.convert(row, QueueLabelBody) for _, row in page.data]
    return JsonReply(body=Page(data, page.next_cursor))


def _export(call: Call[LabelExportQuery, None]) -> Response:
    """A file that `POST /v1/labels` and `steelyard review import` take. Whoever asks is not blind
    about these items any more."""
    media, write = _FORMS[call.query.format]
    name = f'attachment; filename="{call.path["queue_id"]}.{call.query.format}"'
    lines = write(_rows(call), call.project)
    return StreamingResponse(lines, media_type=media, headers={"content-disposition": name})


def _rows(call: Call[Any, Any]) -> list[JsonObject]:
    return queue_rows(call.project.queue_ports(), call.path["queue_id"], viewer_of(call))


def _jsonl(rows: Iterable[JsonObject], _project: Project) -> Iterator[str]:
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _csv(rows: Iterable[JsonObject], project: Project) -> Iterator[str]:
    return label_csv(rows, KnownRubrics(project.references()))


_FORMS: dict[str, tuple[str, Callable[[Iterable[JsonObject], Project], Iterator[str]]]] = {
    "jsonl": ("application/x-ndjson", _jsonl),
    "csv": ("text/csv; charset=utf-8", _csv),
}


async def _import(call: Call[LabelImportQuery, None]) -> JsonReply:
    """The body is the file: labels as JSONL, or as a table whose columns have the names of fields
    and questions. A row that is refused has a finding; the others are stored. A blind label of a
    user who has opened the results of its record on this server is refused.
    """
    asked = call.query

    def work(upload: Upload) -> JsonReply:
        table = TableOptions(
            names=_columns(asked.names),
            rubric=asked.rubric,
            annotator=asked.annotator,
            exposure=asked.exposure,
        )
        is_table = upload.extension in _TABLES
        with upload.open() as stream:
            found = import_posted_labels(
                call.project.queue_ports(),
                LabelFile(stream, upload.name, table if is_table else None),
                run=asked.run,
                is_replacing=asked.replace,
                caller=call.caller,
            )
        body = ImportedLabelsBody(
            read=found.read,
            imported=found.imported,
            same=found.same,
            refused=found.refused,
            replaced=found.replaced,
            unfilled=found.unfilled,
            gold=found.gold,
            renamed=found.renamed,
            redacted=dict(found.redacted),
            findings=finding_bodies(found.findings),
        )
        return JsonReply(body=body)

    async with received(call.request, asked.name, "labels", MAX_JSON, _ENDINGS) as upload:
        return await in_turn(upload, work)


def _columns(names: str | None) -> dict[str, str]:
    pairs = [one.partition("=") for one in (names or "").split(",") if one.strip()]
    for name, _, column in pairs:
        if not (name.strip() and column.strip()):
            raise InvalidError(f"`names` is written FIELD=COLUMN,FIELD=COLUMN, not '{names}'")
    return {name.strip(): column.strip() for name, _, column in pairs}


def _validate(call: Call[NoQuery, None]) -> JsonReply:
    """The newest judgement of the queue is compared with the blind labels, and the validation is
    recorded. 400 if the labels do not suffice, or no judge has answered."""
    project, queue_id = call.project, call.path["queue_id"]
    ports, queues = project.validation_ports(), project.queue_ports()
    queues.queues.find(queue_id)
    report = queued_run(lambda: validate_from_queue(ports, queues, queue_id, caller=call.caller))
    found, rates = report.validation, known_rates(report.validation)
    body = ValidatedBody(
        judge=found.judge,
        check=report.check,
        queue_id=queue_id,
        labels=report.queue_labels,
        split=found.split,
        splits=dict(report.splits),
        left_out=msgspec.convert(found.left_out, LeftOutBody, from_attributes=True),
        sample_size=found.counts.n,
        annotators=found.annotators,
        tpr=_rate(rates.tpr),
        tnr=_rate(rates.tnr),
        notes=list(report.notes),
    )
    return JsonReply(body=body)


def _rate(found: Interval) -> JudgeRateBody:
    return JudgeRateBody(found.value, found.low, found.high, found.n)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/labels",
        summary="List the labels of a review queue with the names of people.",
        scope="runs:read",
        handle=_list,
        query=PageQuery,
        answers={200: Page[QueueLabelBody]},
        errors=(404, 410),
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/labels/export",
        summary="Export the labels of a review queue.",
        scope="runs:read",
        handle=_export,
        query=LabelExportQuery,
        answers={200: "application/x-ndjson text/csv"},
        answer_headers={"Content-Disposition": "The name of the file."},
        errors=(404, 410),
    ),
    Operation(
        method="POST",
        path="/v1/labels",
        summary="Import labels of people from a file.",
        scope="registry:write",
        handle=_import,
        query=LabelImportQuery,
        streamed={
            "application/x-ndjson": None,
            "text/csv": None,
            "application/octet-stream": None,
        },
        answers={200: ImportedLabelsBody},
        max_body=MAX_JSON,
        errors=(404,),
    ),
    Operation(
        method="POST",
        path="/v1/queues/{queue_id}/validate",
        summary="Validate the judge of a review queue with its blind labels.",
        scope="runs:write",
        handle=_validate,
        answers={200: ValidatedBody},
        errors=(404, 409, 410),
    ),
)
