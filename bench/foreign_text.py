"""Every function that reads foreign text takes time in proportion to it.

Run it with `python -m bench.foreign_text`. Each function reads hostile texts of two sizes; what
takes more than two and a half times as long for twice the text would be a way to stop a run.
What checks and judges' replies take is measured by `bench.grading`.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import product
from typing import NamedTuple

from bench.page import machine, write_section

from steelyard.checks.catalog import Catalog
from steelyard.contracts.importers.prbench import reference_number
from steelyard.contracts.legal_eval.policies import placeholders
from steelyard.engine.redaction.own_rules import OwnPattern
from steelyard.engine.redaction.patterns import FINDERS
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.engine.redaction.text import unescaped
from steelyard.errors import SteelyardError
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.formats.mustache import rendered
from steelyard.formats.mustache_tags import template_problems
from steelyard.formats.names import near_miss
from steelyard.formats.yaml_text import parse_yaml
from steelyard.judging.delimiters import DelimiterFence
from steelyard.judging.reply_json import replied_json
from steelyard.model.case import Case
from steelyard.model.message import Message
from steelyard.model.trace import Trace
from steelyard.settings import REDACTED_KINDS as KINDS
from steelyard.store.globs import matches
from steelyard.targets.json_template import JsonTemplate
from steelyard.targets.openai import read_completion
from steelyard.targets.reply_json import refusal_text

SIZES = (100_000, 400_000)
WORST = 2.5
_LEAST_S = 0.002
"""Never so little that the clock's grain counts."""
PIECES = (
    *("a", "\\", '"', "{", "[", "{{", "}}", "{{ ", " ", "\n", "\t", "`", "```\n", "~", "# ", "#"),
    *("<", "-", ".", ",", ":", "&", "*", "@", "0", "1 ", "+1", "A1", "\u0301", "\ud7ff", "\x85"),
    *('\\"', "\\u", "\\\\n", "a@b.", "@a", "sk-", "eyJa.", "Bearer ", "-----BEGIN ", "&a [*a]"),
    *("password=", "secret=a", "pwd:", "api_key", "1-", "aB1/"),
    *("{{#a}}", "{{x}}", "{{^a}}\n", "{{/a}}"),
    *("reference", "<think>", "'", "null", "- ", "? ", "!", "%40", "9-", "(0"),
)
FRAMES = (
    ('"', '"'),
    ('{"a": "', '"}'),
    ("# a", "x"),
    ("```", "x"),
    ("{{", "x"),
    ("a: ", ""),
)
"""What stands before and after a repeated piece."""
FRAMED = ("a", " ", "\n", "\\", "{{", "`", "```\n", "#")


class Row(NamedTuple):
    """One row of the table."""

    what: str
    worst: str
    growth: float


def readers() -> Mapping[str, Callable[[str], object]]:
    """Every function that reads foreign text, by what it does."""
    redactor, structure = Redactor(["a-secret-value"], KINDS), Catalog()
    markdown = structure.make("markdown_structure", {"min_headings": 1})
    case = Case(id="c")
    return {
        "JSON": lambda text: parse_json(text.encode()),
        "JSON, the second look": lambda text: parse_json_tolerantly(text.encode()),
        "YAML": lambda text: parse_yaml(text.encode()),
        "YAML with anchors": lambda text: parse_yaml(_anchored(text)),
        "names that are near": lambda text: near_miss(text, ("expected_facts", "input")),
        "redaction of an artifact": lambda text: redactor(json_bytes({"a": text})),
        "redaction of a name": redactor.text,
        "redaction of names of fields": lambda text: redactor(_named_fields(text)),
        "escapes before redaction": unescaped,
        **{f"redaction: {kind}": _drained(find) for kind, find in FINDERS.items()},
        "redaction: a project's own": _drained(OwnPattern("own", "(a+)+b|@[0-9]*|\\pL+x").find),
        "a guideline pattern": lambda text: matches(text[:4000], "a" * 4000),
        "a path under a guideline pattern": lambda text: matches("*a*a*a*a*a*b", text),
        "a Mustache template": lambda text: rendered(text, {}),
        "the tags of a template": lambda text: template_problems(text, ("answer",)),
        "the body of a request": lambda text: JsonTemplate(text, "t", {}),
        "a policy's template": lambda text: placeholders([text]),
        "a column's name": reference_number,
        "the answer of an endpoint": lambda text: read_completion(text.encode(), 0.0),
        "the refusal of an endpoint": lambda text: refusal_text(text.encode()),
        "the JSON in a judge's reply": replied_json,
        "what a judge is shown": lambda text: DelimiterFence("nonce").around(text),
        "the outline of an answer": lambda text: markdown.check(_trace(text), case),
    }


def results(sizes: tuple[int, int] = SIZES) -> Iterator[Row]:
    """The worst growth of every reader over all hostile texts."""
    for what, read in readers().items():
        yield Row(what, *worst_growth(read, hostile_texts(), sizes))


def hostile_texts() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Texts of any size: a piece again and again, within something that begins and ends."""
    for piece in PIECES:
        yield f"{piece}…", partial(_repeated, piece)
    for (begin, end), piece in product(FRAMES, FRAMED):
        yield f"{begin}{piece}…{end}", partial(_repeated, piece, begin=begin, end=end)


def _repeated(piece: str, size: int, begin: str = "", end: str = "") -> str:
    return begin + (piece * (size // len(piece) + 1))[:size] + end


def worst_growth(
    read: Callable[[str], object],
    texts: Iterable[tuple[str, Callable[[int], str]]],
    sizes: tuple[int, int],
) -> tuple[str, float]:
    """The text that grows worst, and the time for twice of it over that for one."""
    worst, growth = "", 0.0
    doublings = math.log2(sizes[1] / sizes[0])
    for name, text in texts:
        short, long = (_seconds(read, text(size)) for size in sizes)
        each = (long / short) ** (1 / doublings)
        if each > growth:
            worst, growth = name, each
    return worst, growth


def _anchored(text: str) -> bytes:
    """Many anchors, each with a name of its own."""
    return "".join(f"k{n}: &a{n} {text[:9]!a}\n" for n in range(len(text) // 25)).encode()


def _named_fields(text: str) -> bytes:
    """An object whose fields are called alike once what they are called is redacted."""
    return json.dumps(
        {f"a{place}@b.com{text[:9]}": 0 for place in range(len(text) // 20)}
    ).encode()


def _drained(find: Callable[[str], Iterator[object]]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in find(text))


def _trace(text: str) -> Trace:
    return Trace(messages=(Message(role="assistant", content=text),))


def _seconds(read: Callable[[str], object], text: str) -> float:
    """The least of six times; a refusal is an answer, too."""
    taken: list[float] = []
    for _ in range(6):
        begin = time.process_time()
        with suppress(SteelyardError):
            read(text)
        taken.append(time.process_time() - begin)
    return max(min(taken), _LEAST_S)


def main() -> None:
    """Measure, print each row as it comes, and write the page."""
    rows: list[Row] = []
    for row in results():
        print(f"{row.what}: {row.growth:.1f} × ({row.worst})", flush=True)
        rows.append(row)
    lines = [
        f"Measured by `python -m bench.foreign_text`: {machine()}. Growth is what twice the text",
        f"does to the time, between {SIZES[0]:,} and {SIZES[1]:,} characters, the worst of",
        f"{len(list(hostile_texts()))} hostile texts: 2 is linear.",
        "",
        "| what is read | growth |",
        "|---|---|",
        *(f"| {row.what} | {row.growth:.1f} × |" for row in rows),
    ]
    write_section("foreign_text", "\n".join(lines))


if __name__ == "__main__":
    main()
