"""A rubric's own name."""

from __future__ import annotations

from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric


def test_a_rubric_is_named_by_its_pinned_reference() -> None:
    rubric = Rubric(id="basic", version="1.2.0", checks=())

    assert Reference.parse(rubric.name) == Reference(kind="rubric", id="basic", version="1.2.0")
