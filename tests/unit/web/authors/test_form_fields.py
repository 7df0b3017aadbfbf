"""Which field an error of the settings is about."""

from __future__ import annotations

import pytest

from steelyard.web.authors.form_fields import FieldError, field_error

LABELS = {"name": "Name", "path": "Response file", "fail_under": "Least pass rate"}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (
            "suites.a.b.fail_under must be at most 1",
            FieldError("fail_under", "Least pass rate must be at most 1"),
        ),
        (
            "targets.live: 'path' must be inside the project: ../x",
            FieldError("path", "Response file must be inside the project: ../x"),
        ),
        ("'a b' is not a valid name; …", FieldError("name", "'a b' is not a valid name; …")),
        ("targets.live: a text holds half a surrogate pair", None),
        ("the database is busy", None),
    ],
)
def test_the_field_is_found_by_its_setting(message: str, found: FieldError | None) -> None:
    assert field_error(message, LABELS) == found
