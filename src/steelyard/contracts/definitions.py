"""A rubric or judge of any contract, from the text of its file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from steelyard.checks.catalog import Catalog
from steelyard.contracts.catalog import Contracts
from steelyard.contracts.check_rubric.reader import read_check_rubric
from steelyard.contracts.detect import detect_document
from steelyard.contracts.differences import grading_bytes
from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.contracts.reading import located_finding
from steelyard.errors import ParseError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields
from steelyard.formats.json_hash import canonical_whole
from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import SecondLook, parse_json, parse_json_tolerantly
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.definition import Content
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject
from steelyard.model.reference import exact_version

MAX_DEFINITION = 16 * 1024 * 1024
CHANGEABLE: dict[str, tuple[str, ...]] = {
    "check_rubric": ("status",),
    "question_rubric": ("status",),
    "judge": ("status", "validation", "applicable_to"),
}
"""The fields that may change under one version, by contract."""


def read_definition_file(
    data: bytes, extension: str, folder: str, catalog: Catalog
) -> tuple[Content | None, list[Finding]]:
    """What the bytes of a file of `rubrics/` or `judges/` hold; never an exception."""
    if len(data) > MAX_DEFINITION:
        return None, [error("payload_too_large", "the file is larger than 16 MB")]
    try:
        content = data if extension == ".json" else parse_yaml(data)
        value = content.value if isinstance(content, Located) else looked_at(data).value
        top = value if isinstance(value, dict) else {}
        detected = detect_document(Contracts(), top, extension, folder)
        if detected and detected.kind == "dataset":
            message = f"this is a {detected.name} file, and no rubric or judge"
            return None, [error("unsupported_format", message)]
        return read_definition(content, detected.name if detected else "check_rubric", catalog)
    except ParseError as wrong:
        return None, [error(wrong.code, str(wrong), line=wrong.line)]


def read_definition(
    content: bytes | Located, contract: str, catalog: Catalog
) -> tuple[Content | None, list[Finding]]:
    """What a file of `rubrics/` or `judges/` holds, and what is wrong with it.

    JSON comes as bytes and its findings have no line; text that is no JSON is a ParseError.
    """
    if isinstance(content, Located):
        return _read(content, contract, catalog)
    look = looked_at(content)
    found, findings = _read(Located(look.value, Lines(1)), contract, catalog)
    odd = [located_finding(problem, None) for problem in look.problems]
    places = {finding.path for finding in odd if finding.is_error}
    # JSON is parsed without lines; the spot is looked up when it is shown.
    rest = [replace(finding, line=None) for finding in findings if finding.path not in places]
    return None if places else found, [*odd, *rest]


def looked_at(data: bytes) -> SecondLook:
    """JSON that may hold lone surrogates, numbers out of range and repeated keys, and where."""
    data = without_bom(data)
    try:
        look = SecondLook(parse_json(data), ())
    except ParseError:
        look = parse_json_tolerantly(data)
    return replace(look, problems=(*look.problems, *repeated_keys(data, look.value)))


def definition_value(data: bytes, extension: str) -> JsonObject:
    """The fields of a file that holds a rubric or judge, as they are written."""
    value = looked_at(data).value if extension == ".json" else parse_yaml(data).value
    return fields(value)


def fixed_bytes(row: JsonObject, contract: str) -> bytes:
    """What a version fixes, in one form however the file is laid out.

    What may change under a version is left out: whether a rubric or judge is in use, and how
    far a judge has been validated.
    """
    kept = {name: value for name, value in row.items() if name not in CHANGEABLE[contract]}
    version = kept.get("version")
    if contract != "question_rubric" and isinstance(version, str):
        kept["version"] = exact_version(version)
    return canonical_whole(kept)


def _read(
    content: Located, contract: str, catalog: Catalog
) -> tuple[Content | None, list[Finding]]:
    sha256 = grading_sha256 = None
    if isinstance(content.value, dict):
        sha256 = hashlib.sha256(fixed_bytes(content.value, contract)).hexdigest()
        grading_sha256 = hashlib.sha256(grading_bytes(content.value, contract)).hexdigest()
    if contract == "judge":
        return read_judge(content, sha256)
    rubric, findings = (
        read_question_rubric(content, sha256)
        if contract == "question_rubric"
        else read_check_rubric(content, catalog, sha256)
    )
    return rubric and replace(rubric, grading_sha256=grading_sha256), findings
