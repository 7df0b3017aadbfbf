"""Labels in spreadsheets: one row per response, columns by name, yes and no as people write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from steelyard.contracts.labels.reader import RawLabel
from steelyard.errors import InvalidError, ParseError, UnreadableFileError, argument
from steelyard.formats.csv_line import plain_cell
from steelyard.formats.json_fields import fields, object_field
from steelyard.formats.json_text import parse_json
from steelyard.formats.names import did_you_mean
from steelyard.formats.records import Record, csv_delimiter, csv_records
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.label import Exposure
from steelyard.model.labels.sheet import RESERVED
from steelyard.model.question import QuestionRubric
from steelyard.review.sheet_cells import cell_answers, column_question, passed_value
from steelyard.usecases.review.label_csv import MORE
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.sheets import design_place

_TEXTS = ("record_id", "run_id", "rubric", "annotator", "queue_id", "exposure", "rubric_sha256")
_NUMBERS = ("repeat", "inclusion_prob")
_IGNORED = ("question", "answer")
_ALIASES = {"id": "record_id", "example_id": "record_id"}
_NEEDED = ("record_id", "annotator", "rubric", "exposure")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """What a table does not say itself."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The column of a field or a question, by the name of the field or question."""
    rubric: str | None = None
    annotator: str | None = None
    exposure: Exposure | None = None
    design: Mapping[tuple[str, int], JsonObject] = field(
        default_factory=dict[tuple[str, int], JsonObject]
    )
    """How records were chosen, as `review assign` wrote it, by record and repeat."""


class LabelTable:
    """The labels of a CSV file; `unfilled` counts rows without any answer."""

    def __init__(self, stream: BinaryIO, options: TableOptions, rubrics: KnownRubrics) -> None:
        self._stream = stream
        self._options = options
        self._rubrics = rubrics
        self._names = {column: name for name, column in options.names.items()}
        self.unfilled = 0

    def rows(self) -> Iterator[RawLabel]:
        """Every row with an answer, as the row of JSONL that it stands for."""
        head = self._stream.read(1 << 16)
        self._stream.seek(0)
        is_first = True
        for record in self._records(csv_delimiter(head)):
            line = int(record.place.removeprefix("line "))
            if record.value is None:
                fault = ParseError(record.fault, code="invalid_csv")
                yield RawLabel(line, fault)
                continue
            if is_first:
                self._require_columns(record.value)
                is_first = False
            try:
                row = self._label({name: str(cell or "") for name, cell in record.value.items()})
            except ParseError as fault:
                yield RawLabel(line, fault)
                continue
            if row is not None:
                yield RawLabel(line, row)

    def _records(self, delimiter: str) -> Iterator[Record]:
        """The lines of the table; raises UnreadableFileError when it is none."""
        try:
            yield from csv_records(self._stream, delimiter)
        except ParseError as wrong:
            raise UnreadableFileError(f"this is no table: line {wrong.line}: {wrong}") from None

    def _label(self, cells: Mapping[str, str]) -> JsonObject | None:
        named = {self._name(column): plain_cell(cell) for column, cell in cells.items()}
        more = _more(named.get(MORE, ""))
        row: JsonObject = {name: cell for name in _TEXTS if (cell := named.get(name, "").strip())}
        for name in _NUMBERS:
            if cell := named.get(name, "").strip():
                row[name] = _number(cell)
        row = {**self._known(row), **row}
        rubric = self._rubrics.questions(str(row["rubric"])) if "rubric" in row else None
        answers = _joined(more, cell_answers(named, rubric) if rubric else {})
        if answers.get("trace") or answers.get("turns"):
            row["answers"] = answers
        if cell := named.get("passed", "").strip():
            row["passed"] = passed_value(cell)
        row = {**{name: one for name, one in more.items() if name != "answers"}, **row}
        if "answers" not in row and "passed" not in row:
            self.unfilled += 1
            return None
        return {**self._extra(named, rubric), **row}

    def _known(self, row: JsonObject) -> JsonObject:
        """What the options and the design say of a row that does not say it itself."""
        options = self._options
        given = {
            "rubric": options.rubric,
            "annotator": options.annotator,
            "exposure": options.exposure,
        }
        stated: JsonObject = {name: value for name, value in given.items() if value is not None}
        return {**options.design.get(design_place(row), {}), **stated}

    def _extra(self, named: Mapping[str, str], rubric: QuestionRubric | None) -> JsonObject:
        """Further columns, such as notes."""
        return {
            name: cell
            for name, cell in named.items()
            if cell.strip()
            and name not in RESERVED
            and not (rubric and column_question(name, rubric))
        }

    def _name(self, column: str) -> str:
        """The field or question that a column holds."""
        plain = column.strip()
        return self._names.get(column) or self._names.get(plain) or _ALIASES.get(plain, plain)

    def _require_columns(self, first: JsonObject) -> None:
        """Refuse a table that cannot have labels, with what would be right."""
        listed = ", ".join(f"'{column}'" for column in first)
        for name, column in self._options.names.items():
            if column not in first and column not in {one.strip() for one in first}:
                raise InvalidError(
                    f"{argument('names')} {name}={column}: there is no column '{column}'; "
                    f"there are {listed}"
                )
            self._require_known(name)
        named = {self._name(column) for column in first}
        chosen = [*self._options.design.values()]
        design: JsonObject = chosen[0] if chosen else {}
        stated = {"rubric": self._options.rubric, "annotator": self._options.annotator}
        stated["exposure"] = self._options.exposure
        for name in _NEEDED:
            if name not in named and name not in design and not stated.get(name):
                raise InvalidError(_missing(name, listed, [*first]))
        if "passed" not in named and not self._asks_anything(named, design):
            raise InvalidError(
                f"no column holds a label: there are {listed}; name the column of the verdict, "
                f"{argument('names')} passed=COLUMN, or call a column by the key of a question"
            )

    def _require_known(self, name: str) -> None:
        """Refuse a mapped name close to that of a question, which the rubric does not have."""
        rubric = self._rubrics.questions(self._options.rubric) if self._options.rubric else None
        if rubric is None or name in RESERVED or column_question(name, rubric):
            return
        if hint := did_you_mean(name, [one.key for one in rubric.questions]):
            raise InvalidError(
                f"{argument('names')} {name}: {rubric.reference} has no question '{name}'; {hint}"
            )

    def _asks_anything(self, named: set[str], design: JsonObject) -> bool:
        """Whether a column has answers; a table that names rubrics row by row may have some."""
        rubric = self._options.rubric or design.get("rubric")
        if rubric is None:
            return True
        questions = self._rubrics.questions(str(rubric))
        return questions is not None and any(column_question(one, questions) for one in named)


def _more(cell: str) -> JsonObject:
    """What `review export` could not put in columns of its own."""
    if not cell.strip():
        return {}
    try:
        found = parse_json(cell.encode())
    except ParseError as wrong:
        raise ParseError(f"{MORE}: invalid JSON: {wrong}", code=wrong.code) from None
    if not isinstance(found, dict):
        raise ParseError(f"{MORE}: must be an object, not {cell[:60]!r}", code="invalid_json")
    return found


def _joined(more: JsonObject, answers: JsonObject) -> JsonObject:
    """The answers of columns, and those that have none."""
    try:
        rest = object_field(more, "answers")
        trace = {**object_field(rest, "trace"), **object_field(answers, "trace")}
        turns = dict(object_field(rest, "turns"))
        for name, sheet in object_field(answers, "turns").items():
            turns[name] = {**object_field(turns, name), **fields(sheet)}
    except TypeError:
        shape = 'answers must be {"trace": {…}, "turns": {"turn_1": {…}}}'
        raise ParseError(f"{MORE}: {shape}", code="invalid_json") from None
    return {"trace": trace, "turns": turns} if turns else {"trace": trace}


def _missing(name: str, listed: str, columns: list[str]) -> str:
    hint = did_you_mean(name, columns)
    meant = f" ({hint})" if hint else ""
    column = f"{argument('names')} {name}=COLUMN"
    if name == "record_id":
        return f"no column 'record_id'{meant}; there are {listed}; name it with {column}"
    if name == "exposure":
        return (
            f"the table does not say whether people saw the judge's verdict; pass "
            f"{argument('exposure')} blind if they did not, {argument('exposure')} suggested "
            "if they did"
        )
    design = (
        "; for a table that was assigned, put its NAME.design.jsonl beside it, under the same NAME"
        if name == "rubric"
        else ""
    )
    return (
        f"no column '{name}'{meant}; there are {listed}; name it with {column}, or pass "
        f"{argument(name)} for all rows{design}"
    )


def _number(cell: str) -> JsonValue:
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return cell
