"""Whether a target supports the content of a record; nothing is dropped silently."""

from __future__ import annotations

from steelyard.contracts.eval_cases.spelling import INPUT, written
from steelyard.contracts.reading import Row
from steelyard.execution.ports import TargetSpec
from steelyard.model.case import Case
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, Path, path_text
from steelyard.model.unsent import Unsent, asks_nothing, unsent

_FILES = "input_files"


def left_out(case: Case, spec: TargetSpec) -> list[Unsent]:
    """The unsupported content of a case; empty if no call is made."""
    return unsent(case.input_messages, spec.carries) if spec.is_asked else []


def refused(row: Row, case: Case, spec: TargetSpec) -> Row | None:
    """The row with findings for unsupported content; None if there is none."""
    found = left_out(case, spec)
    if not found or (spec.omits and not asks_nothing(case.input_messages, found)):
        return None
    findings = (_finding(row, case, spec, one) for one in found)
    return row._replace(findings=(*row.findings, *findings))


def _finding(row: Row, case: Case, spec: TargetSpec, found: Unsent) -> Finding:
    without = ", and without it nothing is left to ask" if spec.omits else ""
    omitting = f"; or leave such parts out with targets.{spec.name}.unsupported: omit"
    return Finding(
        severity="error",
        code="unsupported_field",
        message=f"targets.{spec.name} cannot be sent {found.what}{without}",
        path=path_text((*case.place.path, *_path(row, case, found.path))),
        line=row.line,
        index=row.index,
        record_id=row.record_id,
        hint="ask a target whose provider carries it, such as openai or anthropic"
        f"{'' if spec.omits else omitting}",
    )


def _path(row: Row, case: Case, path: Path) -> Path:
    """The path within the row, in which messages have several names and forms."""
    value: JsonObject = row.value if isinstance(row.value, dict) else {}
    name = written(value, INPUT) or INPUT[0]
    listed = value.get(name)
    if isinstance(listed, list):
        # The file may have messages that precede those of the row.
        first, *rest = path
        before = len(case.input_messages) - len(listed)
        place = first - before if isinstance(first, int) and first >= before else first
        return (name, place, *rest)
    if isinstance(listed, str):
        return (_FILES, *path[2:])
    return (name, *path[1:])
