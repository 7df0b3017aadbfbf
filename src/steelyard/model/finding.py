"""A problem in a file, as data: collected, counted and shown the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from steelyard.errors import InvalidError
from steelyard.model.frozen_struct import FrozenStruct

Severity: TypeAlias = Literal["error", "warning"]

# The nine codes of contract 2 come first; every reader uses them wherever they fit.
RECORD_CODES = (
    "missing_required_field",
    "invalid_field_type",
    "value_out_of_range",
    "string_too_long",
    "invalid_enum_value",
    "duplicate_record_id",
    "record_too_large",
    "invalid_encoding",
    "unsupported_field",
)
CODES = (
    *RECORD_CODES,
    "unknown_field",
    "ignored_field",
    "duplicate_key",
    "duplicate_content",
    "conflicting_fields",
    "invalid_json",
    "invalid_yaml",
    "unsupported_format",
    "payload_too_large",
    "unreadable_file",
    "missing_file",
    "file_outside_root",
    "hidden_file",
    "forbidden_variable",
    "missing_sidecar",
    "invalid_template",
    "dangling_reference",
    "unpinned_reference",
    "version_conflict",
    "reference_cycle",
    "nested_composite",
    "archived_rubric",
    "archived_judge",
    "stale_validation",
    "out_of_scope_judge",
    "pairwise_judge",
    "missing_target",
)
# What strict mode takes for an error: nobody can say later what a run was graded by, or how well.
_STRICT_CODES = (
    *("unpinned_reference", "stale_validation", "out_of_scope_judge"),
    *("duplicate_key", "conflicting_fields"),
)


class Finding(FrozenStruct, frozen=True, kw_only=True):
    """One problem: what is wrong, where, and what would be right."""

    severity: Severity
    code: str
    message: str
    path: str = ""
    line: int | None = None
    index: int | None = None
    record_id: str | None = None
    hint: str | None = None

    @property
    def is_error(self) -> bool:
        """Whether this finding makes its row or file invalid."""
        return self.severity == "error"

    @property
    def where(self) -> str:
        """The part of the path that the message does not name already, to put before it."""
        if not self.path or self.path in self.message:
            return ""
        record, _, field = self.path.partition("].")
        return f"{record}]: " if field and field in self.message else f"{self.path}: "

    def strict(self) -> Finding:
        """The same finding as strict mode sees it: an error if it is an unknown field name with
        a hint, a key given twice, a field that another leaves without effect, an unpinned
        reference, or a judge that is stale or out of its scope."""
        if (self.code == "unknown_field" and self.hint) or self.code in _STRICT_CODES:
            return replace(self, severity="error")
        return self


class RefusedFileError(InvalidError):
    """A file is refused for what was found in it; the message says the first of it."""

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


def error(code: str, message: str, *, path: str = "", line: int | None = None) -> Finding:
    """An error finding that concerns a whole file."""
    return Finding(severity="error", code=code, message=message, path=path, line=line)


def warning(code: str, message: str, *, path: str = "", line: int | None = None) -> Finding:
    """A warning that concerns a whole file."""
    return Finding(severity="warning", code=code, message=message, path=path, line=line)
