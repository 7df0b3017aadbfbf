"""A rubric or judge of any contract, from the text of its file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.detect import detect_document
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.errors import ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import SecondLook, parse_json, parse_json_tolerantly
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.definition import Content
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import path_text

MAX_DEFINITION = 16 * 1024 * 1024


def read_definition_file(
    data: bytes, extension: str, folder: str, catalog: Catalog
) -> tuple[Content | None, list[Finding]]:
    """What the bytes of a file of `rubrics/` or `judges/` hold; never an exception."""
    if len(data) > MAX_DEFINITION:
        return None, [error("payload_too_large", "the file is larger than 16 MB")]
    try:
        content = data if extension == ".json" else parse_yaml(data)
        value = content.value if isinstance(content, Located) else looked_at(data).value
        detected = detect_document(value if isinstance(value, dict) else {}, extension, folder)
        sha256 = hashlib.sha256(data).hexdigest()
        return read_definition(content, detected or "check_rubric", catalog, sha256)
    except ParseError as wrong:
        return None, [error(wrong.code, str(wrong), line=wrong.line)]


def read_definition(
    content: bytes | Located, contract: str, catalog: Catalog, sha256: str | None = None
) -> tuple[Content | None, list[Finding]]:
    """What a file of `rubrics/` or `judges/` holds, and what is wrong with it.

    JSON comes as bytes and its findings have no line; text that is no JSON is a ParseError.
    """
    if isinstance(content, Located):
        return _read(content, contract, catalog, sha256)
    look = looked_at(content)
    found, told = _read(Located(look.value, Lines(1)), contract, catalog, sha256)
    odd = [_at_path(problem) for problem in look.problems]
    places = {finding.path for finding in odd}
    # JSON is parsed without lines; the spot is looked up when it is shown.
    rest = [replace(finding, line=None) for finding in told if finding.path not in places]
    return None if odd else found, [*odd, *rest]


def looked_at(data: bytes) -> SecondLook:
    """JSON that may hold lone surrogates or numbers out of range, and where they stand."""
    data = without_bom(data)
    try:
        return SecondLook(parse_json(data), ())
    except ParseError:
        return parse_json_tolerantly(data)


def _read(
    content: Located, contract: str, catalog: Catalog, sha256: str | None
) -> tuple[Content | None, list[Finding]]:
    if contract == "judge":
        return read_judge(content, sha256)
    if contract == "question_rubric":
        return read_question_rubric(content, sha256)
    return read_check_rubric(content, catalog, sha256)


def _at_path(problem: Problem) -> Finding:
    return error(problem.code, spoken(problem), path=path_text(problem.path))
