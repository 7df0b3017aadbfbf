"""What a rubric or judge is called, and what its file promises."""

from __future__ import annotations

import pytest

from steelyard.model.definition import Content, Definition, reference_to
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric


@pytest.mark.parametrize(
    ("content", "reference"),
    [
        (Rubric(id="basic", version="1.2.0", checks=()), "rubric/basic@1.2.0"),
        (Judge(id="tone", version="1.0.0", template="?"), "judge/tone@1.0.0"),
        (QuestionRubric(name="Q", version="quality-v2", questions=()), "rubric/quality-v2"),
    ],
)
def test_a_reference_names_exactly_one_thing(content: Content, reference: str) -> None:
    assert str(reference_to(content)) == reference


@pytest.mark.parametrize(
    ("shown", "stem"),
    [
        ("rubrics/basic.yaml", "basic"),
        ("rubrics/basic@1.2.0.yaml", "basic"),
        ("rubrics/agent-quality-v2.json", "agent-quality-v2"),
        ("basic.yml", "basic"),
    ],
)
def test_a_file_name_promises_an_id(shown: str, stem: str) -> None:
    assert Definition(path=f"/p/{shown}", shown=shown).stem == stem
