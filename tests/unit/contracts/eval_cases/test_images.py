"""Images and blocks that nobody reads, in the content of messages."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from steelyard.contracts.image_blocks import MAX_IMAGES, ImageReader, is_image
from steelyard.formats.image_bytes import MAX_IMAGE, media_type_of
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject
from steelyard.model.message import ImageBlock, OtherBlock
from steelyard.ports import NoFiles
from strategies.eval_folder import EvalFolder, row

GIF = b"GIF89a" + b"\0" * 20
TEXT = base64.b64encode(GIF).decode("ascii")


def read(block: JsonObject) -> tuple[OtherBlock, list[tuple[str, str]]]:
    problems: list[Problem] = []
    made = ImageReader(NoFiles(), problems).block(block, ("content", 0))
    return made, [(problem.code, problem.severity) for problem in problems]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "value": f"data:image/png;base64,{TEXT}"},
        {"type": "image", "image": f"DATA:image/gif;base64,{TEXT}"},
        {"type": "input_image", "image_url": f"data:;base64,{TEXT}"},
        {"type": "image_url", "image_url": {"url": f"data:image/gif;charset=x;base64,{TEXT}"}},
        {"type": "image", "source": {"type": "base64", "data": TEXT}},
    ],
)
def test_images_are_read_in_many_forms_and_known_by_their_bytes(block: JsonObject) -> None:
    """EC-68"""
    made, problems = read(block)

    assert isinstance(made, ImageBlock)
    assert (made.media_type, made.content, problems) == ("image/gif", GIF, [])
    assert made.data == block


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ({"type": "image"}, ("missing_required_field", "error")),
        ({"type": "image", "source": {"type": "file"}}, ("missing_required_field", "error")),
        ({"type": "image", "value": "a.png"}, ("missing_file", "error")),
        ({"type": "image", "value": "data:image/png,raw"}, ("invalid_encoding", "error")),
        ({"type": "image", "source": {"data": "é"}}, ("invalid_encoding", "error")),
        ({"type": "image", "source": {"data": "AAAA"}}, ("unreadable_file", "warning")),
        (
            {"type": "image", "source": {"data": "A" * MAX_IMAGE * 2}},
            ("record_too_large", "error"),
        ),
    ],
)
def test_an_image_that_is_none_is_kept_as_it_is(
    block: JsonObject, problem: tuple[str, str]
) -> None:
    """EC-68"""
    made, problems = read(block)

    assert made == OtherBlock(data=block)
    assert problems == [problem]


def test_the_images_of_a_record_are_bounded_together() -> None:
    large = GIF + b"\0" * (MAX_IMAGES // 4)
    block: JsonObject = {"type": "image", "source": {"data": base64.b64encode(large).decode()}}
    problems: list[Problem] = []
    reader = ImageReader(NoFiles(), problems)
    for number in range(5):
        reader.block(block, ("content", number))

    assert [(problem.code, problem.path[1]) for problem in problems] == [("record_too_large", 3)]


def test_a_file_with_the_name_of_an_image_is_one() -> None:
    assert is_image({"type": "file", "value": "a/B.PNG"})
    assert not is_image({"type": "file", "value": "png.md"})


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", ""),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_kinds_are_told_by_how_they_begin(data: bytes, kind: str) -> None:
    assert media_type_of(data) == kind


def test_a_block_of_another_type_is_kept_with_a_warning(tmp_path: Path) -> None:
    """EC-69"""
    folder = EvalFolder(tmp_path)
    block: JsonObject = {"type": "audio", "value": "call.wav"}
    case = folder.case(row(input_messages=[{"role": "user", "content": [block]}]))
    (finding,) = folder.report("data.jsonl").files[0].findings

    assert case.input_messages[0].content == (OtherBlock(data=block),)
    assert (finding.severity, finding.code) == ("warning", "unsupported_field")
