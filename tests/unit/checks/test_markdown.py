"""The shape of a Markdown text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.checks.markdown import Fence, Heading, outline


@pytest.mark.parametrize(
    ("line", "headings"),
    [
        ("# One", (Heading(1, "One"),)),
        ("###### Six", (Heading(6, "Six"),)),
        ("####### Seven", ()),
        ("#hashtag", ()),
        ("#", (Heading(1, ""),)),
        ("##\tTab ", (Heading(2, "Tab"),)),
        ("   ## Three spaces", (Heading(2, "Three spaces"),)),
        ("    ## Four spaces", ()),
        ("## Closed ##", (Heading(2, "Closed"),)),
        ("## C#", (Heading(2, "C#"),)),
        ("Text\n====", (Heading(1, "Text"),)),
        ("Text\n-", (Heading(2, "Text"),)),
        ("Two\n lines \n   ---  ", (Heading(2, "Two lines"),)),
        ("Text\n\n----", ()),
        ("====", ()),
        ("Text\n    ====", ()),
        ("Text\n=== =", ()),
        ("- item\n----", ()),
        ("- item\nlazy\n----", ()),
        ("1. item\n====", ()),
        ("> quoted\n----", ()),
        ("    code\n----", ()),
        ("# One\n----", (Heading(1, "One"),)),
        ("| a | b |\n|---|---|", ()),
        ("One\n===\nTwo\n---", (Heading(1, "One"), Heading(2, "Two"))),
        ("```\nText\n====\n```", ()),
        ("> # Quoted", ()),
    ],
)
def test_a_heading_begins_with_one_to_six_signs_or_is_underlined(
    line: str, headings: tuple[Heading, ...]
) -> None:
    assert outline(line).headings == headings


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_what_stands_between_fences_is_neither_heading_nor_text(line_break: str) -> None:
    text = line_break.join(["# A", "", "```sh", "# no heading", "ls", "```", "text", "# B"])
    found = outline(text)

    assert [heading.text for heading in found.headings] == ["A", "B"]
    assert found.fences == (Fence("sh", "# no heading\nls"),)
    assert found.paragraphs == 1


@pytest.mark.parametrize(
    ("text", "fences"),
    [
        ("```\na\n```", (Fence("", "a"),)),
        ("``` PHP title=x\na\n```", (Fence("php", "a"),)),
        ("~~~php\na\n~~~", (Fence("php", "a"),)),
        ("~~~ a`b\na\n~~~", (Fence("a`b", "a"),)),
        ("````\n```\na\n```\n````", (Fence("", "```\na\n```"),)),
        ("```\na\n````", (Fence("", "a"),)),
        ("```\na\n~~~\n```", (Fence("", "a\n~~~"),)),
        ("```\n``` b\n```", (Fence("", "``` b"),)),
        ("```php\na", (Fence("php", "a"),)),
        ("```php", (Fence("php", ""),)),
        ("1. so\n   ```php\n   a\n   ```\n", (Fence("php", "   a"),)),
        ("```a``` is code", ()),
        ("``\na\n``", ()),
    ],
)
def test_a_fence_ends_where_one_of_its_sort_stands_alone(
    text: str, fences: tuple[Fence, ...]
) -> None:
    assert outline(text).fences == fences


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("", 0),
        (" \n\t\n", 0),
        ("a", 1),
        ("a\nb", 2),
        ("a\n\n- b\n- c", 3),
        ("# a\nb", 1),
        ("a\nb\n===\nc", 1),
    ],
)
def test_each_line_of_text_counts_as_a_paragraph(text: str, paragraphs: int) -> None:
    assert outline(text).paragraphs == paragraphs


@given(st.text("#`~ \t\n\ra>", max_size=60))
def test_every_line_is_one_thing(text: str) -> None:
    found = outline(text)
    inside = sum(fence.text.count("\n") + 1 for fence in found.fences)

    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert len(found.headings) + found.paragraphs + len(found.fences) <= len(lines)
    assert inside <= len(lines)


@pytest.mark.parametrize("line", ["#" * 50 + " ", "# " + "# " * 50, "`" * 99 + "a`", " " * 99])
def test_a_long_text_takes_no_longer_than_its_length(line: str) -> None:
    started = time.process_time()
    outline((line + "\n") * 10_000)
    outline(line * 10_000)

    assert time.process_time() - started < 2
