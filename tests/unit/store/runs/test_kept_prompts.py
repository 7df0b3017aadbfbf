"""A prompt comes back as it was sent, whichever version of Steelyard has kept it."""

from __future__ import annotations

import hashlib
import json
import zlib

import msgspec
import pytest

from steelyard.judging.prompting import FRAME
from steelyard.store.runs.kept_prompts import (
    KEPT_FRAMES,
    kept_prompt,
    packed_prompt,
    prompt_text,
    whole_prompt,
)

NONCE = "0f" * 16
FRAMED = ("system", NONCE.join(FRAME))
EXAMPLES = ("system", f"{NONCE.join(FRAME)}\n\nExamples of earlier judgements:\n\n{NONCE}")
OTHER = ("system", "You are asked for one word.")
ASKED = ("user", f"[[material {NONCE}]]\nThree weeks.\n[[end of material {NONCE}]]")
LONG = ("user", "Is it right? " * 2_000)


def stored(*messages: tuple[str, str], nonce: str = NONCE) -> bytes:
    return packed_prompt(msgspec.json.encode(kept_prompt(messages, nonce)))


@pytest.mark.parametrize(
    "messages",
    [
        (FRAMED, ASKED),
        (EXAMPLES, ASKED),
        (OTHER, ASKED),
        (ASKED,),
        (FRAMED, LONG),
        (OTHER, LONG),
        (),
    ],
)
@pytest.mark.parametrize("nonce", [NONCE, "", "ab"])
def test_a_prompt_comes_back_as_it_was_sent(
    messages: tuple[tuple[str, str], ...], nonce: str
) -> None:
    assert whole_prompt(stored(*messages, nonce=nonce)) == {
        "messages": [list(message) for message in messages]
    }


def test_what_every_judge_is_told_is_not_kept_with_each_call() -> None:
    assert len(stored(FRAMED, ASKED)) < len(stored(ASKED)) + 100
    assert b"Reply with one JSON object" not in prompt_text(stored(FRAMED, ASKED))


def test_a_long_prompt_is_deflated_and_a_short_one_is_not() -> None:
    assert len(stored(FRAMED, LONG)) < len(LONG[1]) / 10
    assert json.loads(stored(FRAMED, ASKED))["messages"][1] == list(ASKED)


def test_prompts_of_earlier_versions_are_deflated_and_whole() -> None:
    prompt = {"messages": [list(FRAMED), list(ASKED)]}
    old = json.dumps(prompt).encode()
    for packed in (zlib.compress(old), zlib.compress(old, 1), small_window(old)):
        assert whole_prompt(packed) == prompt
        assert prompt_text(packed) == old


def small_window(data: bytes) -> bytes:
    packer = zlib.compressobj(level=1, wbits=12, memLevel=5)
    return packer.compress(data) + packer.flush()


def test_a_frame_that_prompts_are_kept_with_is_never_changed() -> None:
    """Another wording gets another name, and the old text stays under its own."""
    known = {
        name: hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        for name, parts in KEPT_FRAMES.items()
    }
    assert known == {"1": "1bfd92a182ee9a6d"}
