"""What makes two judgements the work of the same instrument."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from steelyard.model.json_value import Extra, JsonObject, JsonValue


def identity(
    *,
    template: str,
    frame: str,
    schema: JsonObject,
    questions: Sequence[str],
    instructions: Extra,
    examples: Sequence[str] = (),
) -> str:
    """The sha256 of what is asked: template, answer schema, question texts, few-shot ids.

    `frame` is what is said around every template, without its nonce: a new wording of it is a
    new instrument as well. What is judged is no part of who judges.
    """
    return _sha256(
        {
            "template": template,
            "frame": frame,
            "schema": schema,
            "questions": list(questions),
            "instructions": dict(instructions),
            "examples": list(examples),
        }
    )


def fingerprint(
    identity: str, model: str | None, sampling: Extra, replies_sha256: str | None = None
) -> str:
    """The sha256 of a call's identity, the model that answers and its sampling settings.

    A recorded judge is its file of replies, and one that is a program is the files of that: their
    hash counts as well.
    """
    parts: JsonObject = {"identity": identity, "model": model, "sampling": dict(sampling)}
    return _sha256(parts if replies_sha256 is None else {**parts, "replies": replies_sha256})


def _sha256(value: JsonValue) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
