"""Which choices an answer selects: a ladder of rules, of which the first that fires decides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

from steelyard.checks.choice_doubts import is_doubted, is_only_weighed
from steelyard.checks.choice_patterns import (
    BOXED,
    CLAUSE_END,
    CUE,
    HASHES,
    IT_IS,
    KEYED,
    LISTED_VALUE,
    MARKS,
    MARKUP,
    NAMED,
    NOT_BUT,
    PASSED_OVER,
    PLACEHOLDER,
    PRAISE,
    REJECTED,
    TAGGED,
    THOUGHT_END,
    WORD_AFTER,
    patterns_of,
)
from steelyard.checks.json_in_text import embedded_json, fenced_json, lenient_json
from steelyard.checks.text import clip
from steelyard.model.case import AnswerChoice
from steelyard.model.json_value import JsonValue

Ids: TypeAlias = tuple[str, ...]

_KEYS = {"answer", "choice", "final_answer"}
_NO_ANSWER = {"null", "none", "true", "false"}
_HEAD = 8
_BEFORE_HEAD = 60
_SUBJECT = 80
"""How far before `is correct` the choices begin of which it is said."""
_BEFORE = 40
_SMALL_WORDS = {"a", "i"}


class Selection(NamedTuple):
    """What an answer selects, and the rule that found it."""

    rule: str | None = None
    ids: Ids = ()
    given: str | None = None
    """What stands in the place of a choice, where it is none of them."""

    @property
    def is_decided(self) -> bool:
        """Whether a rule fired."""
        return bool(self.ids) or self.given is not None


_NOTHING = Selection()


class ChoiceReader:
    """Reads answers to one set of choices."""

    def __init__(self, choices: tuple[AnswerChoice, ...]) -> None:
        ids = [choice.id for choice in choices]
        self._exact = set(ids)
        self._choices = choices
        self._longest = max([len(choice.text) for choice in choices], default=0) + 80
        self._patterns = patterns_of(tuple(ids))

    @cached_property
    def _texts(self) -> dict[str, str]:
        return _by_form(self._choices, lambda choice: choice.text)

    @cached_property
    def _heads(self) -> set[str]:
        return {form[:_HEAD] for form in self._texts}

    @cached_property
    def _ids(self) -> dict[str, str]:
        return _by_form(self._choices, lambda choice: choice.id)

    def read(self, answer: str) -> Selection:
        """What an answer selects; reasoning that a model marks as such is passed over."""
        text = unicodedata.normalize("NFC", _after_thought(answer))
        for name, sign, rule in self.LADDER:
            if sign in text:
                found = rule(self, text)
                if found.ids or found.given is not None:
                    return Selection(name, found.ids, found.given)
        return _NOTHING

    def _in_object(self, text: str) -> Selection:
        return self._in_json([lenient_json(text)])

    def _in_fences(self, text: str) -> Selection:
        return self._in_json(fenced_json(text))

    def _embedded(self, text: str) -> Selection:
        """Objects between other words, or else what broken JSON says under the known keys."""
        found = self._in_json(embedded_json(text))
        return found if found.is_decided else self._in_json(_broken_json(text))

    def _in_json(self, values: Iterable[JsonValue]) -> Selection:
        candidates = [found for value in values for found in _keyed(value)]
        if not candidates:
            return _NOTHING
        for candidate in reversed(candidates):
            ids = self._value(candidate)
            if ids:
                return Selection(ids=ids)
        all_given = [given for candidate in candidates if (given := _given(candidate))]
        return Selection(given=all_given[-1]) if all_given else Selection()

    def _value(self, value: JsonValue) -> Ids:
        """The choices that a JSON value names."""
        if isinstance(value, bool) or value is None:
            return ()
        if isinstance(value, list):
            return _once(name for item in value for name in self._value(item))
        if isinstance(value, dict):
            inner = [*_keyed(value), value.get("id")]
            return next((ids for item in inner if (ids := self._value(item))), ())
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self._short_text(str(value))

    def _short_text(self, text: str) -> Ids:
        """The choices that a text names which is there to name them."""
        if text in self._exact:
            return (text,)
        alone = self._patterns.alone.fullmatch(text.strip())
        if alone:
            return self._names(alone["ids"])
        if len(text) <= self._longest and (name := self._texts.get(_form(text))):
            return (name,)
        labelled = self._patterns.labelled.match(text)
        if labelled:
            other = self._patterns.other_label.search(text, labelled.end())
            return () if other else self._names(labelled["ids"])
        begun = self._patterns.listed.match(text)
        if begun and not _is_word(begun) and not self._is_denied(text, 0, begun.end()):
            return self._names(begun["ids"])
        return _last(self._in_hashes(text)).ids or self._in_phrases(text)

    def _in_hashes(self, text: str) -> Iterator[Ids]:
        for found in HASHES.finditer(text):
            if not REJECTED.match(text, found.end() + len("###")):
                yield self._named_alone(found[1])

    def _in_boxes(self, text: str) -> Iterator[Ids]:
        for found in BOXED.finditer(text):
            if not REJECTED.match(text, found.end()):
                yield self._named_alone(MARKUP.sub("", found[1]))

    def _in_tags(self, text: str) -> Iterator[Ids]:
        for found in TAGGED.finditer(text):
            yield self._short_text(found["inside"])

    def _hashed(self, text: str) -> Selection:
        return _last(self._in_hashes(text))

    def _boxed(self, text: str) -> Selection:
        return _last(self._in_boxes(text))

    def _tagged(self, text: str) -> Selection:
        return _last(self._in_tags(text))

    def _said(self, text: str) -> Selection:
        return Selection(ids=self._in_phrases(text))

    def _in_phrases(self, text: str) -> Ids:
        """The choices that are taken last; where none is, those that are only named last."""
        taken = [*self._announced(text), *self._praised(text)]
        for _, ids in sorted(taken, reverse=True):
            if ids:
                return ids
        return _last(self._named(text)).ids

    def _named(self, text: str) -> Iterator[Ids]:
        end = 0
        for cue in NAMED.finditer(text):
            if cue.start() < end:  # the second option of a list: it has been read
                continue
            ids, end = self._after(text, cue.end())
            if ids and not self._is_passed_over(text, cue.start(), end):
                yield ids

    def _announced(self, text: str) -> Iterator[tuple[int, Ids]]:
        for cue in CUE.finditer(text):
            contrast = NOT_BUT.match(text, cue.end())
            start = contrast.end() if contrast else cue.end()
            ids, end = self._after(text, start, is_sentence=True)
            if ids and not self._is_denied(text, cue.start(), end):
                yield end, ids
        for cue in IT_IS.finditer(text):
            ids, end = self._after(text, cue.end(), is_sentence=True)
            is_all = ids and CLAUSE_END.match(text, end)
            if is_all and not self._is_denied(text, cue.start(), end):
                yield end, ids

    def _praised(self, text: str) -> Iterator[tuple[int, Ids]]:
        """Choices of which is said that they are right."""
        for praise in PRAISE.finditer(text):
            before = text[max(0, praise.start() - _SUBJECT) : praise.start()]
            found = self._patterns.last.search(before)
            if found is None or found["ids"] in _SMALL_WORDS:
                continue
            start = praise.start() - len(before) + found.start()
            is_denied = PASSED_OVER.search(before[: found.start()]) or is_doubted(
                text, start, praise.end()
            )
            if not is_denied:
                yield praise.end(), self._subject(found["ids"])

    def _subject(self, text: str) -> Ids:
        """The choices that a statement is about; one named again is all that it is about."""
        names = [self._names(found[0]) for found in self._patterns.label.finditer(text)]
        return names[-1] if names[-1] in names[:-1] else self._names(text)

    def _is_denied(self, text: str, start: int, end: int) -> bool:
        """Whether the choices that a statement ends with are rejected, doubted or not alone."""
        if REJECTED.match(text, end) or is_doubted(text, start, end):
            return True
        other = self._patterns.alternative.match(text, end)
        return other is not None and not _is_word(other)

    def _is_passed_over(self, text: str, start: int, end: int) -> bool:
        """Whether choices that are only named are not the ones that are taken."""
        return (
            bool(PASSED_OVER.search(text[max(0, start - _BEFORE) : start]))
            or is_only_weighed(text, end)
            or self._is_denied(text, start, end)
        )

    def _after(self, text: str, start: int, *, is_sentence: bool = False) -> tuple[Ids, int]:
        """The choices that stand behind a cue, and where they end."""
        rest = self._rest_of_line(text, start)
        if ids := self._named_alone(rest):
            return ids, start + len(rest)
        if name := self._text_of(rest):
            return (name,), start + len(rest)
        found = self._patterns.listed.match(text, start)
        if found and not (is_sentence and _is_word(found)):
            return self._names(found["ids"]), found.end()
        return (), start

    def _named_alone(self, text: str) -> Ids:
        """The choices that are all there is in a text."""
        alone = self._patterns.alone.fullmatch(text.strip())
        return self._names(alone["ids"]) if alone else ()

    def _rest_of_line(self, text: str, start: int) -> str:
        """The rest of a line; nothing where it is longer than any choice."""
        limit = start + self._longest
        end = text.find("\n", start, limit)
        if end < 0:
            end = len(text)
        return text[start:end] if end <= limit else ""

    def _text_of(self, line: str) -> str | None:
        """The choice whose text a line is; a look at its head spares most lines the rest."""
        if _form(line[:_BEFORE_HEAD])[:_HEAD] not in self._heads:
            return None
        return self._texts.get(_form(line))

    def _alone_in_line(self, text: str) -> Selection:
        lines = text.split("\n")
        return _last(self._named_alone(line) for line in lines if len(line) <= self._longest)

    def _in_text(self, text: str) -> Selection:
        """The text of a choice as the whole answer or as a line, with or without its label.

        Lines with a label count only when all name one choice: several are the question again.
        """
        if len(text) <= self._longest and (name := self._texts.get(_form(text))):
            return Selection(ids=(name,))
        labelled: set[str] = set()
        for line in reversed(text.split("\n")):
            if len(line) > self._longest:
                continue
            if name := self._text_of(line):
                return Selection(ids=(name,))
            labelled.update(self._labelled_text(line))
        return Selection(ids=tuple(labelled) if len(labelled) == 1 else ())

    def _labelled_text(self, line: str) -> Ids:
        label = self._patterns.labelled.match(line)
        name = self._text_of(line[label.end() :]) if label else None
        return (name,) if label and name and self._names(label["ids"]) == (name,) else ()

    def _names(self, text: str) -> Ids:
        """The ids in a list of them; one that could be two choices is none."""
        if text in self._exact:
            return (text,)
        found = (match[0] for match in self._patterns.label.finditer(text))
        named = (form if form in self._exact else self._ids.get(_form(form)) for form in found)
        return _once(name for name in named if name is not None)

    LADDER: ClassVar[Sequence[tuple[str, str, Callable[[Any, str], Selection]]]] = (
        ("json", "", _in_object),
        ("fenced_json", "```", _in_fences),
        ("embedded_json", ":", _embedded),
        ("hashes", "###", _hashed),
        ("boxed", "\\", _boxed),
        ("tagged", "<", _tagged),
        ("phrase", "", _said),
        ("letter", "", _alone_in_line),
        ("text", "", _in_text),
    )
    """The rules, the highest rung first, each with a sign without which it finds nothing."""


RULES = tuple(name for name, _, _ in ChoiceReader.LADDER)


def _by_form(
    choices: tuple[AnswerChoice, ...], part: Callable[[AnswerChoice], str]
) -> dict[str, str]:
    """The ids of choices by the form of their id or text; a form of two choices is left out."""
    found: dict[str, str] = {}
    shared: set[str] = {""}
    for choice in choices:
        form = _form(part(choice))
        shared.update({form} & found.keys())
        found[form] = choice.id
    return {form: name for form, name in found.items() if form not in shared}


def _form(text: str) -> str:
    """How texts are compared: without case, marks around them and runs of white space."""
    composed = unicodedata.normalize("NFC", text)
    return " ".join(composed.split()).strip(MARKS).casefold()


def _after_thought(answer: str) -> str:
    ends = list(THOUGHT_END.finditer(answer))
    rest = answer[ends[-1].end() :] if ends else ""
    return rest if rest.strip() else answer


def _keyed(value: JsonValue) -> Iterator[JsonValue]:
    """What stands under the known keys of an object; of a list, of its objects or itself."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name.strip().casefold().replace(" ", "_").replace("-", "_") in _KEYS:
                yield item
    elif isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        if objects:
            for item in objects:
                yield from _keyed(item)
        elif value:
            yield value


def _broken_json(text: str) -> Iterator[JsonValue]:
    """The values of known keys in JSON that no parser reads."""
    for found in KEYED.finditer(text):
        if found["list"] is not None:
            items = LISTED_VALUE.finditer(found["list"])
            named: list[JsonValue] = [item[1] or item[2] or "" for item in items]
            yield {"answer": named}
        elif (found["bare"] or "").casefold() not in _NO_ANSWER:
            yield {"answer": found["double"] or found["single"] or found["bare"]}


def _given(value: JsonValue) -> str | None:
    """What an answer says that names no choice; None where it says nothing."""
    if isinstance(value, bool) or not value:
        return None
    text = str(value).strip()
    return None if PLACEHOLDER.fullmatch(text) else clip(text, 40)


def _last(found: Iterable[Ids]) -> Selection:
    """The last match of a rule; one that names no choice is none."""
    ids: Ids = ()
    for one in found:
        ids = one or ids
    return Selection(ids=ids) if ids else _NOTHING


def _once(names: Iterable[str]) -> Ids:
    return tuple(dict.fromkeys(names))


def _is_word(found: re.Match[str]) -> bool:
    """Whether a letter is more likely the word `a` or `I` of a sentence than a choice."""
    is_letter = found["ids"] in {"a", "A", "i", "I"}
    return is_letter and bool(WORD_AFTER.match(found.string, found.end("ids")))
