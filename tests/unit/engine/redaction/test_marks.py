"""Marks of an earlier redaction are counted by their names."""

from __future__ import annotations

from steelyard.engine.redaction.marks import marks_in
from steelyard.engine.redaction.redactor import Redactor

KEPT = b'{"a": "[redacted:email] and [redacted:email]", "b": "[redacted]", "c": "[redacted:own]"}'


def test_marks_are_counted_by_name_and_those_of_secrets_have_none() -> None:
    assert marks_in((KEPT, b"[redacted:", b"redacted]")) == {"email": 2, "": 1, "own": 1}


def test_a_redactor_counts_the_marks_of_its_own_kinds() -> None:
    redact = Redactor(patterns=("email",))
    redact.carry(KEPT)

    assert redact.take_counts() == {"email": 2, "secrets": 1}
