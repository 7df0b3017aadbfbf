from __future__ import annotations

import pytest

from steelyard.model.message import (
    Content,
    ContentBlock,
    FileBlock,
    Message,
    OtherBlock,
    TextBlock,
)

FILE = FileBlock(value="rules.md", path="/p/rules.md", text="Be brief.")
IMAGE = OtherBlock(data={"type": "image", "url": "x.png"})


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        (None, ()),
        ("hello", (TextBlock(text="hello"),)),
        ("", (TextBlock(text=""),)),
        ((TextBlock(text="a"), FILE), (TextBlock(text="a"), FILE)),
        ((), ()),
        ({"opens": 9}, (OtherBlock(data={"opens": 9}),)),
    ],
)
def test_content_has_blocks_whatever_way_it_was_written(
    content: Content, blocks: tuple[ContentBlock, ...]
) -> None:
    assert Message(role="user", content=content).blocks == blocks


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("hello", "hello"),
        ((), ""),
        ((TextBlock(text="See:"), FILE, IMAGE, TextBlock(text="end")), "See:\nBe brief.\nend"),
        ((IMAGE,), ""),
        ({"größe": 9}, '{\n  "größe": 9\n}'),
    ],
)
def test_the_text_of_a_message_leaves_out_what_is_no_text(content: Content, text: str) -> None:
    assert Message(role="user", content=content).text == text


def test_the_block_of_an_object_is_a_copy() -> None:
    content = {"opens": 9}
    block = Message(role="assistant", content=content).blocks[0]

    content["opens"] = 10

    assert block == OtherBlock(data={"opens": 9})
