"""What is wrong with a file, as the API shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from steelyard.formats.encoding import without_surrogates
from steelyard.model.finding import Finding
from steelyard.reports.findings import finding_json


class FindingBody(msgspec.Struct, frozen=True):
    """A problem in a file, as `validate` reports it."""

    severity: str
    """`error` or `warning`."""
    code: str
    """The kind of problem, as docs/findings.md lists them."""
    message: str
    """What is wrong."""
    path: str
    """Where in the document; empty for the whole."""
    line: int | None
    """The line of the file, where it is known."""
    index: int | None
    """The record it is about, from 0."""
    record_id: str | None
    """The id of that record."""
    hint: str | None
    """What was probably meant."""


def finding_bodies(findings: Sequence[Finding]) -> list[FindingBody]:
    """Findings in the shape of `validate`."""
    return [
        FindingBody(**{key: _clean(value) for key, value in finding_json(one).items()})
        for one in findings
    ]


def _clean(value: Any) -> Any:
    return without_surrogates(value) if isinstance(value, str) else value
