"""Reads contract 5: YAML files, and JSONL files with their sidecar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import BinaryIO

from msgspec import structs

from steelyard.contracts.content import content_and_repeats
from steelyard.contracts.contract import DatasetFile
from steelyard.contracts.eval_cases.cases import CaseBuilder, skips_defaults
from steelyard.contracts.eval_cases.defaults import Defaults, prompt_of_all, read_defaults
from steelyard.contracts.eval_cases.filling import (
    left_in_evaluators,
    with_prompt,
    with_variables,
    with_vars,
)
from steelyard.contracts.eval_cases.listed_tests import entries
from steelyard.contracts.eval_cases.plain_cases import PlainCases
from steelyard.contracts.eval_cases.plain_rows import PlainRows, is_marked
from steelyard.contracts.eval_cases.spelling import CASES, INPUT, LATER, REFERENCE, UNREAD, written
from steelyard.contracts.eval_cases.writer import case_row
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.reading import Row, RowPlace, duplicate_id, reread_lines
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields, object_field, text_field
from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import (
    parse_json_counted,
    parse_json_tolerantly,
)
from steelyard.formats.jsonl import MAX_LINE, jsonl_lines
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema, spoken
from steelyard.formats.schema_by_type import SchemaByType
from steelyard.formats.seen_ids import SeenIds
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text
from steelyard.ports import Files, NoFiles

CONTRACT = "eval_cases"
# A row without any of these shows no file, and all that can be wrong with it the schema sees.
_TELLING = (
    *(b'"file"', b'"prompt"', b'"weights"', b'"input"', b'"input_files"', b'"expected_output"'),
    *(b'"score_ranges"', b'"regex"', b'"field_accuracy"', b'"field-accuracy"'),
    b"\\u",  # an escape may hide one of them
)


@cache
def _schema(pointer: str) -> Schema:
    return Schema(load_schema(CONTRACT), pointer)


@cache
def _evaluator_schema() -> SchemaByType:
    return SchemaByType(load_schema(CONTRACT), "evaluator")


def read_eval_cases(file: DatasetFile) -> EvalCasesYaml | EvalCasesJsonl:
    """A YAML file, or rows with what their sidecar says for all of them."""
    if not callable(file.content):
        located = parse_yaml(file.content) if isinstance(file.content, bytes) else file.content
        return EvalCasesYaml(
            located, file.name, files=file.files, file=file.path, is_made=file.is_made
        )
    if file.sidecar is None:
        defaults, findings = Defaults.without_file(file.name), list[Finding]()
    else:
        defaults, findings = read_sidecar(file.sidecar, file.name, file.files)
    rows = EvalCasesJsonl(file.content, defaults, files=file.files, file=file.path)
    rows.sidecar_findings = tuple(findings)
    return rows


def tests_of(name: str, rows: list[JsonObject]) -> Located:
    """A file of rows that an importer made."""
    places = Lines(1, {index: Lines(1) for index in range(len(rows))})
    return Located({"dataset": name, LATER: [*rows]}, Lines(1, {LATER: places}))


class _EvalCasesReading:
    """What the YAML and the JSONL form share: checking one row, and building its case."""

    contract = CONTRACT

    def __init__(self, defaults: Defaults, files: Files | None, file: str | None) -> None:
        self.findings: tuple[Finding, ...] = ()
        self._case_schema = _schema("#/$defs/case")
        self._message_schema = _schema("#/$defs/message")
        self._defaults = defaults
        self._files = files or NoFiles()
        self._file = file
        self._plain = PlainCases()
        self._built: tuple[JsonValue, Case | None] = None, None
        """The row that was checked last by building its case, and the case."""

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        place = Place(file=self._file, line=row.line, index=row.index, path=self._path(row.index))
        if not self._defaults.is_later:
            plain = self._plain.case(fields(row.value), self._defaults, place)
            if plain:
                return plain
        checked, case = self._built
        if case and checked is row.value:
            return structs.replace(case, place=place)
        return self._builder(row.value).case(place)

    def _path(self, index: int) -> Path:  # noqa: ARG002
        """The path of a row in its file; those of JSONL start their own."""
        return ()

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The row merged with its file's defaults, and the hash of every file it loads."""
        return {**case_row(case), "files": file_hashes(case)}

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        return Dataset(
            id=self._defaults.dataset,
            contract=CONTRACT,
            version=self._defaults.version,
            description=self._defaults.description,
            metadata=self._defaults.metadata,
            extra=self._defaults.extra,
            cases=cases,
        )

    def _builder(self, value: JsonValue) -> CaseBuilder:
        row = fields(value)
        return CaseBuilder(row, self._defaults, self._files, self._message_schema)

    def _checked(
        self, place: RowPlace, value: JsonValue, seen: SeenIds, found: list[Problem]
    ) -> Row:
        """A row with everything that is wrong with it."""
        if not any(problem.severity == "error" for problem in found):
            builder = self._builder(value)
            self._built = value, builder.case(Place())
            found.extend(builder.problems)
        name = value.get("id") if isinstance(value, dict) else None
        record_id = name if isinstance(name, str) else None
        if record_id is not None and not seen.add(record_id):
            found.append(duplicate_id(record_id, "case"))
        findings = ()
        if found:
            named = replace(place, record_id=record_id)
            findings = tuple(named.finding(problem) for problem in sorted(found, key=path_order))
        return Row(place.index, place.line, record_id, value, findings)


class EvalCasesJsonl(_EvalCasesReading):
    """An opened JSONL file; lines are read as they are asked for."""

    def __init__(
        self,
        stream: Callable[[], BinaryIO],
        defaults: Defaults,
        *,
        files: Files | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(defaults, files, file)
        self.sidecar_findings: tuple[Finding, ...] = ()
        self._stream = stream
        self._plain_rows = PlainRows(_evaluator_schema(), _TELLING, self._plain.can_build)
        self.is_spoiled = False
        """Whether a line was not JSON, so that no row counts; known when all rows are read."""

    def rows(self) -> Iterator[Row]:
        """Every line that is not blank; `index` counts them, `line` is the physical line."""
        seen = SeenIds()
        with self._stream() as stream:
            for index, (number, text) in enumerate(jsonl_lines(stream)):
                yield self._row(index, number, text, seen)

    def reread(self, is_wanted: Callable[[int], bool]) -> Iterator[Row]:
        """The rows at wanted indices, unchecked: every row of the file was accepted before."""
        with self._stream() as stream:
            yield from reread_lines(stream, is_wanted)

    def _row(self, index: int, number: int, text: bytes, seen: SeenIds) -> Row:
        if len(text) > MAX_LINE:
            return self._spoiled(index, number, "longer than 64 MB", "invalid_json")
        try:
            value, colons = parse_json_counted(text)
        except ParseError as wrong:
            return self._second_look(index, number, text, wrong, seen)
        content, found = content_and_repeats(text, value, colons)
        is_plain = self._plain_rows.has(text, value)
        if not (is_plain or self._case_schema.is_clean(value)):
            found.extend(self._case_schema.problems(value))
        elif not found:
            row = fields(value)
            record_id = text_field(row, "id")
            if (is_plain or not _is_telling(text, row)) and seen.add(record_id):
                return Row(index, number, record_id, value, (), content)
        return self._checked(_jsonl_place(index, number), value, seen, found)

    def _second_look(
        self, index: int, number: int, text: bytes, wrong: ParseError, seen: SeenIds
    ) -> Row:
        """A row that the fast parser refused: one with an odd string, or no JSON at all."""
        try:
            look = parse_json_tolerantly(text)
        except ParseError:
            return self._spoiled(index, number, str(wrong), wrong.code)
        found = [*look.problems, *repeated_keys(text, look.value)]
        found.extend(self._case_schema.problems(look.value))
        return self._checked(_jsonl_place(index, number), look.value, seen, found)

    def _spoiled(self, index: int, number: int, reason: str, code: str) -> Row:
        """A row that is no JSON, so that none of the file counts."""
        self.is_spoiled = True
        problem = Problem(code=code, message=f"Invalid JSON - {reason}")
        finding = _jsonl_place(index, number).finding(problem)
        return Row(index, number, None, None, (finding,))


def _is_telling(text: bytes, row: JsonObject) -> bool:
    # The messages first: where one shows a picture, the text is long.
    if any(isinstance(message["content"], list) for message in _messages(row)):
        return True
    return is_marked(text, _TELLING)


def _messages(row: JsonObject) -> Iterator[JsonObject]:
    """The messages of a row that say something."""
    for name in (*INPUT, *REFERENCE):
        listed = row.get(name)
        for message in listed if isinstance(listed, list) else ():
            if isinstance(message, dict) and "content" in message:
                yield message


def _jsonl_place(index: int, number: int) -> RowPlace:
    return RowPlace(index, None, line=number, has_line_prefix=True)


class EvalCasesYaml(_EvalCasesReading):
    """An opened YAML file."""

    def __init__(
        self,
        content: Located,
        stem: str,
        *,
        files: Files | None = None,
        file: str | None = None,
        is_made: bool = False,
    ) -> None:
        """`is_made` says that an importer made the rows: their texts stand for themselves, and
        what grades a case is looked at elsewhere."""
        super().__init__(Defaults.without_file(stem), files, file)
        self._is_made = is_made
        self._located = content
        self._name: str | None = None
        self.findings = self._open(content, stem)

    @property
    def is_spoiled(self) -> bool:
        """Whether the file as a whole is wrong, so that no row counts."""
        return any(finding.is_error for finding in self.findings)

    def rows(self) -> Iterator[Row]:
        """Every entry of the list of cases."""
        if self._name is None:
            return
        seen = SeenIds()
        for index, entry in enumerate(entries(self._located, self._name, self._files)):
            place = RowPlace(
                *(index, None, entry.path, entry.line, entry.lines),
                has_line_prefix=not _is_unread(entry.value),
                file=entry.file,
            )
            if entry.problem:
                yield self._checked(place, entry.value, seen, [entry.problem])
                continue
            found: list[Problem] = []
            is_filled = self._is_later and not self._is_made
            value = self._filled(entry.value, found) if is_filled else entry.value
            schema = self._row_schema(value)
            found += [] if schema.is_clean(value) else schema.problems(value)
            yield self._checked(place, value, seen, found)

    def _path(self, index: int) -> Path:
        return (self._name or LATER, index)

    @property
    def _is_later(self) -> bool:
        return self._name == LATER

    def _filled(self, value: JsonValue, found: list[Problem]) -> JsonValue:
        """A row with the variables that it names, and the values of its case."""
        value = with_variables(value, self._files, found)
        stated = value.get("vars", {}) if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(stated, dict):
            return value
        # Which values a spoilt file has for all cases is not known.
        problems = [] if self.is_spoiled else found
        values = {**self._defaults.vars, **stated}
        value = with_prompt(value, self._defaults.prompt, values)
        return with_vars(value, values, problems)

    def _row_schema(self, value: JsonValue) -> Schema:
        if not self._is_later:
            return self._case_schema
        is_graded = bool(self._defaults.evaluators) and isinstance(value, dict)
        if self._is_made or self.is_spoiled or (is_graded and not skips_defaults(fields(value))):
            return _schema("#/$defs/graded_test")
        return _schema("#/$defs/test")

    def _open(self, content: Located, stem: str) -> tuple[Finding, ...]:
        header, problems = read_header(content, "#", stem, self._files)
        value = content.value
        if header is not None:
            self._defaults = header
        elif isinstance(value, dict):
            # What is wrong elsewhere in the header leaves no case without its input.
            self._defaults = replace(self._defaults, prompt=prompt_of_all(value))
        name = written(value, CASES) if isinstance(value, dict) else None
        listed = fields(value)[name] if name else None
        if isinstance(listed, list) or (name == LATER and isinstance(listed, str)):
            self._name = name
        return tuple(file_finding(problem, content.lines) for problem in problems)


def _is_unread(value: JsonValue) -> bool:
    """Whether a row stands for one of a table, whose place its reason names."""
    return isinstance(value, dict) and UNREAD in value


def read_sidecar(
    content: Located, stem: str, files: Files | None
) -> tuple[Defaults, list[Finding]]:
    """The defaults in a sidecar, and what is wrong with it."""
    defaults, problems = read_header(content, "#/$defs/sidecar", stem, files or NoFiles())
    findings = [file_finding(problem, content.lines) for problem in problems]
    return defaults or Defaults.without_file(stem), findings


def read_header(
    content: Located, pointer: str, stem: str, files: Files
) -> tuple[Defaults | None, list[Problem]]:
    """The defaults of a file, its cases left out; None where its shape is wrong."""
    value: JsonValue = {} if content.value is None else content.value
    problems: list[Problem] = []
    if isinstance(value, dict):
        value = {name: _without_cases(name, item) for name, item in value.items()}
        if LATER in value:
            value = with_variables(value, files, problems)
    problems += _schema(pointer).problems(value)
    problems = [one for one in problems if not _is_of_a_case(one.path)]
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    header = fields(value)
    problems += left_in_evaluators(header, object_field(header, "vars"))
    return read_defaults(header, stem, files, problems), problems


def _without_cases(name: str, item: JsonValue) -> JsonValue:
    """Cases are checked one by one, not with the header; only that there is one is its."""
    return item[:1] if name in CASES and isinstance(item, list) else item


def _is_of_a_case(path: Path) -> bool:
    return len(path) > 1 and path[0] in CASES


def file_finding(problem: Problem, lines: Lines) -> Finding:
    """A problem of a file's own fields as a finding."""
    line = lines.at(problem.path)
    return Finding(
        severity=problem.severity,
        code=problem.code,
        message=f"Line {line}: {spoken(problem)}",
        path=path_text(problem.path),
        line=line,
        hint=problem.hint,
    )
