"""A question rubric as the form that annotators fill in, from what its file says, right or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from steelyard.contracts.question_rubric.rules import dimension_key
from steelyard.contracts.question_rubric.scales import DIMENSION_SCALE, read_scale
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Scale
from steelyard.model.question_types import QUESTION_TYPES
from steelyard.reports.review_keys import PLACES, choice_keys, none_key

Widget: TypeAlias = Literal["joined", "menu", "list", "pills", "number", "text", ""]
"""How a question is answered; empty where its type is not known."""
MOST_SEGMENTS = 7
"""One of more options is chosen from a menu."""
MOST_SCORES = 11
"""A score on a longer scale is typed."""
MOST_QUESTIONS = 200
_LONG_LABEL = 24
_SHORT_LABEL = 2


class FormChoice(NamedTuple):
    """One answer to choose."""

    value: str
    """What is stored."""
    label: str
    """What people see."""
    key: str = ""
    """The key that chooses it; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormQuestion:
    """One question of the form."""

    key: str
    number: int
    label: str
    type: str
    widget: Widget
    is_required: bool = False
    is_judged: bool = False
    """Whether a judge answers it, too."""
    guidance: str = ""
    choices: tuple[FormChoice, ...] = ()
    scale: Scale | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def none_key(self) -> str:
        """The key of "none of these"; empty where there is none left."""
        return none_key(len(self.choices))

    @property
    def has_short_labels(self) -> bool:
        """Whether many answers fit beside each other."""
        return all(len(one.label) <= _SHORT_LABEL for one in self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm:
    """What an annotator sees of a rubric."""

    name: str
    version: str
    status: str
    guidance: tuple[str, ...]
    trace: tuple[FormQuestion, ...]
    turn: tuple[FormQuestion, ...]
    hidden: int = 0
    """How many questions are left out."""


def question_form(
    row: JsonObject, findings: Sequence[Finding] = (), most: int | None = MOST_QUESTIONS
) -> QuestionForm | None:
    """The form of a rubric; None where it has neither questions nor dimensions."""
    rows = list(_rows(row))
    if not rows:
        return None
    scale = read_scale(row.get("scale"))
    made: dict[bool, list[FormQuestion]] = {False: [], True: []}
    for place, one in rows[:most]:
        same = made[one.get("scope") == "turn"]
        own = tuple(found for found in findings if _is_at(found.path, place))
        same.append(_question(one, len(same) + 1, scale, own))
    return QuestionForm(
        name=_text(row.get("name")),
        version=_text(row.get("version")),
        status=_text(row.get("status")) or "draft",
        guidance=tuple(_texts(row.get("guidance"))),
        trace=tuple(made[False]),
        turn=tuple(made[True]),
        hidden=len(rows) - len(made[False]) - len(made[True]),
    )


def _rows(row: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The questions with their paths; dimensions are questions, too."""
    questions = row.get("questions")
    if isinstance(questions, list):
        for index, one in enumerate(questions):
            yield f"questions[{index}]", one if isinstance(one, dict) else {}
    elif "questions" not in row:
        for index, name in enumerate(_texts(row.get("dimensions"))):
            dimension: JsonObject = {
                "key": dimension_key(name, index + 1),
                "label": name,
                "type": "score",
                "scale": str(DIMENSION_SCALE),
            }
            yield f"dimensions[{index}]", dimension


def _question(
    row: JsonObject, number: int, scale: Scale | None, findings: tuple[Finding, ...]
) -> FormQuestion:
    key, kind = _text(row.get("key")), _text(row.get("type"))
    known = QUESTION_TYPES.get(kind)
    own = (read_scale(row.get("scale")) or scale) if known and known.needs == "scale" else None
    named = list(_choices(row, kind, own))
    keys = choice_keys(kind, [value for value, _ in named])
    choices = tuple(FormChoice(*one, key) for one, key in zip(named, keys, strict=True))
    return FormQuestion(
        key=key,
        number=number,
        label=_text(row.get("label")) or key or f"question {number}",
        type=kind,
        widget=_widget(kind, choices),
        is_required=row.get("required") is True,
        is_judged=bool(
            known and not known.is_free_text and row.get("answeredByAuto") is not False
        ),
        guidance=_text(row.get("guidance")),
        choices=choices,
        scale=own,
        findings=findings,
    )


def _choices(row: JsonObject, kind: str, scale: Scale | None) -> Iterator[tuple[str, str]]:
    if kind == "yes_no":
        yield from (("1", "Yes"), ("0", "No"))
    elif scale and len(scale.values) <= MOST_SCORES:
        yield from ((str(value), str(value)) for value in scale.values)
    elif kind in QUESTION_TYPES and QUESTION_TYPES[kind].needs == "options":
        options = row.get("options")
        for option in options if isinstance(options, list) else []:
            if isinstance(option, dict):
                value = _text(option.get("value"))
                yield value, _text(option.get("label")) or value


def _widget(kind: str, choices: Sequence[FormChoice]) -> Widget:
    """How a question of a type is answered; long labels stand below each other."""
    if kind == "comment":
        return "text"
    if kind == "multi_select":
        return "pills"
    if kind == "score":
        return "joined" if choices else "number"
    if len(choices) > (MOST_SEGMENTS if kind == "single_select" else len(PLACES)):
        return "menu"
    if kind not in QUESTION_TYPES:
        return ""
    is_long = sum(len(one.label) for one in choices) > 2 * _LONG_LABEL
    return "list" if kind == "single_select" and is_long else "joined"


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith((f"{place}.", f"{place}["))


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: JsonValue) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
