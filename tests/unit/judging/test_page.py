"""The page about rubrics: its examples are valid, and come to what it says."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.judge_replies import by_item, deciding
from fakes.scripted_judges import a_case, a_judge, judged
from steelyard.contracts.eval_cases.evaluators import rubric_items
from steelyard.contracts.question_rubric.answers import read_answers
from steelyard.formats.json_text import parse_json
from steelyard.formats.yaml_text import parse_yaml
from steelyard.judging.criteria import Criteria
from steelyard.judging.questionnaire import Questionnaire
from steelyard.judging.rubric_items import RubricItems
from steelyard.model.case import Criterion
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from strategies.legal_eval import found_in
from strategies.question_rubrics import sound

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "rubrics.md").read_text(encoding="utf-8")
BUILT_IN = ROOT / "src" / "steelyard" / "contracts" / "judge" / "built_in"


def blocks(heading: str, language: str) -> list[str]:
    """The code of a section in a language."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_row_of_the_page_is_valid_and_has_the_figures_of_the_page() -> None:
    (text,) = blocks("Criteria", "json")
    row: Any = parse_json(text.encode())
    criteria = tuple(Criterion(**entry) for entry in row["rubric"])
    asker = by_item({"notice": 1, "emergency": 0, "invented": 1})
    details = judged(Criteria(criteria=criteria, judge=a_judge()), asker).details

    assert found_in(row) == []
    assert details["points_over_maximum"] == 0.25
    assert f"≈ {details['min_max']:.2f} |" in PAGE
    assert details["share_met"] == pytest.approx(2 / 3)


def test_the_python_of_the_page_runs() -> None:
    (code,) = blocks("Criteria", "python")

    exec(compile(code, "rubrics.md", "exec"), {})


def test_the_question_rubric_of_the_page_comes_to_what_the_page_says() -> None:
    (text,) = blocks("Questions", "yaml")
    (given,) = blocks("Questions", "json")
    rubric = sound(parse_yaml(text.encode()).value)
    answers, findings = read_answers(parse_json(given.encode()), rubric, turns=2, by="judge")

    def say(call: Any, key: str) -> Any:
        return answers.trace[key] if call.turn is None else answers.turns[call.turn][key]

    trace = Trace(messages=(Message(role="assistant", content="a"),) * 2)
    check = Questionnaire(rubric=rubric, judge=a_judge())
    found = asyncio.run(check.ask(trace, a_case(), deciding(say)))

    assert findings == []
    assert found.answers == answers
    assert found.score == pytest.approx(4.7 / 6)
    assert f"≈ {found.score:.2f}, which does not pass" in PAGE
    assert found.passed is False


def test_the_items_of_the_page_are_judged() -> None:
    (text,) = blocks("Rubric items", "yaml")
    rows = cast(Any, parse_yaml(text.encode()).value)["rubrics"]
    check = RubricItems(items=rubric_items(rows), judge=a_judge())
    found = judged(check, by_item({"rubric-1": 1, "tone": 0, "depth": 4, "guard": 1}))

    assert found.score == pytest.approx((1 + 0.4 + 1) / 3.5)


def test_the_page_lists_every_judge_that_comes_along() -> None:
    section = PAGE.partition("\n## Judges\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)

    assert sorted(listed) == sorted(path.stem for path in BUILT_IN.glob("*.yaml"))
