"""YAML to values by the core rules of YAML 1.2, with line numbers and limits.

One pass over the C parser's event stream. Depth and alias budget are checked on the events,
before anything is built; PyYAML's own composer, which deep input can crash, is never used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import yaml

from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import MAX_NUMBER
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_breaks import hide_breaks, show_breaks
from steelyard.model.json_value import JsonObject, JsonValue

MAX_DEPTH = 100
MAX_ALIASED_NODES = 100_000
MAX_ALIASED_TEXT = 16_000_000
"""Characters; a long text with many aliases is small in a file and nowhere else."""
_TAG = "tag:yaml.org,2002:"
_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE = {"true", "True", "TRUE"}
_FALSE = {"false", "False", "FALSE"}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# More digits in decimal Python does not read.
_MAX_DIGITS = 4300
_SHOWN_LENGTH = 60
_LINE_END = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")


def parse_yaml(data: bytes) -> Located:
    """Parse one YAML document; anything that is wrong with it is a ParseError with its line."""
    require_utf8(data)
    data, is_hidden = hide_breaks(without_bom(data))
    try:
        return _Builder(is_hidden).build(_events(data))
    except yaml.MarkedYAMLError as error:
        mark = cast(Any, error.problem_mark or error.context_mark)
        # The parser says "one line after the last" for what is missing at the end.
        last = data.rstrip(b" \r\n").count(b"\n") + 1
        reason = str(error.problem or error.context)
        if "cannot start any token" in reason and _is_tab(data, mark):
            reason = "a tab stands where spaces must be; indent with spaces"
        raise _wrong(reason, min(mark.line + 1, last)) from None
    except yaml.reader.ReaderError as error:
        line = data.count(b"\n", 0, max(0, int(cast(Any, error).position))) + 1
        raise _wrong(f"character not allowed in YAML: {error.reason}", line) from None


def is_plain_text(text: str) -> bool:
    """Whether a text may be written without quotes and still be read as text."""
    try:
        return isinstance(_plain(text, 0), str) and text != "<<"
    except ParseError:
        return False


def _events(data: bytes) -> Iterator[yaml.Event]:
    parse = cast(Callable[..., Iterator[yaml.Event]], yaml.parse)
    return parse(data, Loader=yaml.CSafeLoader)


def _is_tab(data: bytes, mark: Any) -> bool:
    """Whether a tab stands at a mark with nothing but indentation before it."""
    lines = _LINE_END.split(data.decode("utf-8"))
    line = lines[mark.line] if mark.line < len(lines) else ""
    return line[mark.column : mark.column + 1] == "\t" and not line[: mark.column].strip()


def _wrong(message: str, line: int) -> ParseError:
    return ParseError(message, line=line, code="invalid_yaml")


def _too_deep(line: int) -> ParseError:
    return _wrong(f"nested deeper than {MAX_DEPTH} levels", line)


def _shown(text: str | None) -> str:
    return str(text)[:_SHOWN_LENGTH]


class _Node(NamedTuple):
    """A value with an anchor, and what an alias of it costs."""

    value: JsonValue
    lines: Lines
    size: int = 1
    height: int = 0
    letters: int = 0


@dataclass(slots=True)
class _Open:
    """A collection that is being filled."""

    value: JsonObject | list[JsonValue]
    lines: Lines
    anchor: str | None
    is_mapping: bool
    size: int = 1
    height: int = 1
    letters: int = 0
    key: str | None = None
    key_line: int = 0
    is_merge: bool = False
    merges: list[tuple[JsonValue, Lines]] = field(default_factory=list[tuple[JsonValue, Lines]])


class _Builder:
    """Builds values from events with a stack of its own, so that no input can exhaust Python's."""

    def __init__(self, has_hidden_breaks: bool) -> None:
        self.has_hidden_breaks = has_hidden_breaks
        self.stack: list[_Open] = []
        self.anchors: dict[str, _Node] = {}
        self.aliased = 0
        self.aliased_letters = 0
        self.root: Located | None = None

    def build(self, events: Iterator[yaml.Event]) -> Located:
        handlers: dict[type[yaml.Event], Callable[[Any, int], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open_mapping,
            yaml.SequenceStartEvent: self._open_sequence,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
        }
        for event in events:
            handle = handlers.get(type(event))
            if handle:
                handle(event, cast(Any, event.start_mark).line + 1)
        return self.root or Located(None, Lines(1))

    def _document(self, _event: yaml.Event, line: int) -> None:
        if self.root is not None:
            raise _wrong("more than one document; write one document a file", line)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if self.has_hidden_breaks:
            event.value = show_breaks(event.value)
        if self._awaits_key():
            value = self._key(self.stack[-1], event, line)
        else:
            value = _scalar_value(event, line)
            self._place(value, Lines(line), letters=len(event.value))
        if event.anchor:
            node = _Node(value, Lines(line), letters=len(event.value))
            self.anchors[event.anchor] = node

    def _awaits_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].is_mapping and self.stack[-1].key is None

    def _key(self, parent: _Open, event: yaml.ScalarEvent, line: int) -> str:
        name = event.value
        if event.tag not in {None, "!", _TAG + "str"}:
            raise _wrong(f"tag {_shown(event.tag)} is not supported on a key", line)
        if name in parent.value:
            raise _wrong(f"duplicate key '{_shown(name)}'", line)
        parent.key, parent.key_line = name, line
        parent.letters += len(name)
        # In quotes `<<` is a name like any other.
        parent.is_merge = name == "<<" and not event.style and event.tag is None
        return name

    def _open_mapping(self, event: yaml.MappingStartEvent, line: int) -> None:
        self._open(_Open({}, Lines(line), event.anchor, is_mapping=True), event.tag, "map")

    def _open_sequence(self, event: yaml.SequenceStartEvent, line: int) -> None:
        self._open(_Open([], Lines(line), event.anchor, is_mapping=False), event.tag, "seq")

    def _open(self, opened: _Open, tag: str | None, expected: str) -> None:
        line = opened.lines.line
        if len(self.stack) >= MAX_DEPTH:
            raise _too_deep(line)
        if self._awaits_key():
            raise _wrong("a key must be a plain text", line)
        if tag not in {None, "!", _TAG + expected}:
            raise _wrong(f"tag {_shown(tag)} is not supported", line)
        self.stack.append(opened)

    def _close(self, _event: yaml.Event, _line: int) -> None:
        done = self.stack.pop()
        for merged, lines in done.merges:
            _merge(cast(JsonObject, done.value), done.lines, merged, lines)
        node = _Node(done.value, done.lines, done.size, done.height, done.letters)
        if done.anchor:
            self.anchors[done.anchor] = node
        self._place(*node)

    def _alias(self, event: yaml.AliasEvent, line: int) -> None:
        anchor = event.anchor
        if anchor not in self.anchors:
            raise _wrong(f"alias *{_shown(anchor)} names no anchor that is complete here", line)
        node = self.anchors[anchor]
        self.aliased += node.size
        if self.aliased > MAX_ALIASED_NODES:
            raise _wrong(f"aliases stand for more than {MAX_ALIASED_NODES} values", line)
        self.aliased_letters += node.letters
        if self.aliased_letters > MAX_ALIASED_TEXT:
            raise _wrong(f"aliases stand for more than {MAX_ALIASED_TEXT:,} characters", line)
        if len(self.stack) + node.height > MAX_DEPTH:
            raise _too_deep(line)
        if self._awaits_key():
            raise _wrong("a key must be written out, not an alias", line)
        self._place(*node)

    def _place(
        self, value: JsonValue, lines: Lines, size: int = 1, height: int = 0, letters: int = 0
    ) -> None:
        if not self.stack:
            self.root = Located(value, lines)
            return
        parent = self.stack[-1]
        parent.size += size
        parent.letters += letters
        parent.height = max(parent.height, height + 1)
        if isinstance(parent.value, list):
            parent.lines.children[len(parent.value)] = lines
            parent.value.append(value)
            return
        key = cast(str, parent.key)
        parent.key = None
        if parent.is_merge and isinstance(value, dict | list):
            parent.merges.append((value, lines))
            return
        if lines.line != parent.key_line:
            # The key's line, not the value's: that is where a person looks for the field.
            lines = lines.moved_to(parent.key_line)
        parent.lines.children[key] = lines
        parent.value[key] = value


def _merge(into: JsonObject, into_lines: Lines, merged: JsonValue, lines: Lines) -> None:
    """Add the fields of a `<<` mapping (or of a list of them) that are not written out."""
    sources: list[tuple[JsonValue, Lines]] = [(merged, lines)]
    if isinstance(merged, list):
        sources = [(item, lines.children[index]) for index, item in enumerate(merged)]
    for source, source_lines in sources:
        if not isinstance(source, dict):
            raise _wrong("'<<' takes a mapping or a list of mappings", source_lines.line)
        for key, value in source.items():
            if key not in into:
                into[key] = value
                into_lines.children[key] = source_lines.children[key]


def _scalar_value(event: yaml.ScalarEvent, line: int) -> JsonValue:
    tag = event.tag
    if tag not in {None, "!"}:
        return _tagged(cast(str, tag), event.value, line)
    if not event.style and tag is None:
        return _plain(event.value, line)
    return event.value


def _tagged(tag: str, text: str, line: int) -> JsonValue:
    if tag == _TAG + "str":
        return text
    value = _plain(text, line)
    accepted: dict[str, tuple[type, ...]] = {
        _TAG + "int": (int,),
        _TAG + "float": (int, float),
        _TAG + "bool": (bool,),
        _TAG + "null": (type(None),),
    }
    if tag not in accepted:
        raise _wrong(f"tag {_shown(tag)} is not supported", line)
    if type(value) not in accepted[tag]:
        raise _wrong(f"'{_shown(text)}' is not a {tag.removeprefix(_TAG)}", line)
    return value


def _plain(text: str, line: int) -> JsonValue:
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INT.fullmatch(text):
        return _integer(text, line)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if math.isinf(number):
            raise _wrong(f"number too large to hold: {text[:20]}", line)
        return number
    if _NOT_FINITE.fullmatch(text):
        raise _wrong(f"'{text}' is not a number that data can hold", line)
    return text


def _integer(text: str, line: int) -> int:
    if len(text) > _MAX_DIGITS:
        raise _wrong("number too large to hold", line)
    # `010` is ten in YAML 1.2; only `0o` and `0x` change the base.
    number = int(text, 0) if text.startswith(("0o", "0x")) else int(text, 10)
    if abs(number) > MAX_NUMBER:
        raise _wrong("number too large to hold", line)
    return number
