"""The keys of the review page: one table for what they do, the badges and the help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.json_value import JsonValue

Action: TypeAlias = Literal[
    "previous_question",
    "next_question",
    "choose",
    "clear",
    "previous_turn",
    "next_turn",
    "previous_item",
    "next_item",
    "submit",
    "skip",
    "defer",
    "undo",
    "comment",
    "leave_text",
    "flag",
    "guidelines",
    "help",
]
PLACES = tuple("1234567890-")
"""The keys of options by position, as they stand on a keyboard: the tenth has 0."""
YES, NO = "y", "n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewKey:
    """One thing that keys do."""

    action: Action
    keys: tuple[str, ...]
    """Names of keys as browsers call them; any of them will do."""
    badges: tuple[str, ...]
    """What people see of them."""
    text: str
    with_control: bool = False
    """Whether Ctrl or ⌘ is held."""
    while_typing: bool = False
    """Whether it also works in a text."""


KEYS: tuple[ReviewKey, ...] = (
    ReviewKey(
        action="choose",
        keys=(*PLACES, YES, NO),
        badges=("1", "…", "9", "0", "-", YES, NO),
        text="Answer the marked question: an option by its place, a score, yes or no",
    ),
    ReviewKey(
        action="clear",
        keys=("Backspace", "Delete"),
        badges=("⌫", "Del"),
        text="Clear the answer of the marked question",
    ),
    ReviewKey(
        action="previous_question", keys=("ArrowUp",), badges=("↑",), text="Previous question"
    ),
    ReviewKey(action="next_question", keys=("ArrowDown",), badges=("↓",), text="Next question"),
    ReviewKey(action="previous_turn", keys=("[",), badges=("[",), text="Previous turn"),
    ReviewKey(action="next_turn", keys=("]",), badges=("]",), text="Next turn"),
    ReviewKey(action="previous_item", keys=("ArrowLeft",), badges=("←",), text="Previous item"),
    ReviewKey(action="next_item", keys=("ArrowRight",), badges=("→",), text="Next item"),
    ReviewKey(
        action="submit",
        keys=("Enter",),
        badges=("Ctrl ↵",),
        text="Submit, and go to the next item",
        with_control=True,
        while_typing=True,
    ),
    ReviewKey(action="skip", keys=("s",), badges=("s",), text="Skip the item, with a reason"),
    ReviewKey(action="defer", keys=("d",), badges=("d",), text="Put the item off to the end"),
    ReviewKey(
        action="undo",
        keys=("u",),
        badges=("u",),
        text="Undo the last answer; right after an item was submitted, reopen it",
    ),
    ReviewKey(
        action="undo", keys=("z",), badges=("Ctrl z",), text="The same as u", with_control=True
    ),
    ReviewKey(action="comment", keys=("c",), badges=("c",), text="Write a comment"),
    ReviewKey(
        action="leave_text",
        keys=("Escape",),
        badges=("Esc",),
        text="Leave a text, back to the questions",
        while_typing=True,
    ),
    ReviewKey(
        action="flag",
        keys=("f",),
        badges=("f",),
        text="Flag the item: a gap in the guidelines, or a bad item",
    ),
    ReviewKey(action="guidelines", keys=("g",), badges=("g",), text="Read the guidelines"),
    ReviewKey(action="help", keys=("?",), badges=("?",), text="Show these keys"),
)


_ADJUDICATION: frozenset[Action] = frozenset(
    {
        "choose",
        "clear",
        "previous_question",
        "next_question",
        "previous_turn",
        "next_turn",
        "previous_item",
        "next_item",
        "submit",
        "comment",
        "leave_text",
        "help",
    }
)
ADJUDICATION_KEYS = tuple(one for one in KEYS if one.action in _ADJUDICATION)
"""The keys where gold labels are decided: what is answered there is neither skipped nor undone."""


def badge_of(action: Action) -> str:
    """The badge of a control that does the same as a key."""
    return next(one.badges[0] for one in KEYS if one.action == action)


def key_rows(keys: Sequence[ReviewKey] = KEYS) -> list[JsonValue]:
    """The table as the page's script reads it."""
    return [
        {
            "action": one.action,
            "keys": list(one.keys),
            "control": one.with_control,
            "typing": one.while_typing,
        }
        for one in keys
    ]


def choice_keys(kind: str, values: Sequence[str]) -> tuple[str, ...]:
    """The key of each answer of a question; empty where there is none left.

    Scores up to 10 have their own figures, and 10 the key that is left; others go by position.
    """
    if kind == "yes_no":
        return tuple(YES if value == "1" else NO for value in values)
    ten = PLACES[-1] if "0" in values else "0"
    figures = tuple(ten if value == "10" else value for value in values)
    if kind == "score" and all(one in PLACES for one in figures):
        return figures
    return tuple(PLACES[place] if place < len(PLACES) else "" for place in range(len(values)))


def none_key(options: int) -> str:
    """The key of an answer that says that none of so many options fits."""
    return next((key for key in PLACES[-2:] if PLACES.index(key) >= options), "")
