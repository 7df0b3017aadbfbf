"""Texts that many records show are kept once, without what nobody may see."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from steelyard.engine.redaction.redactor import Redactor
from steelyard.store.runs import request_parts
from steelyard.store.runs.request_parts import RequestPartRows

if TYPE_CHECKING:
    import pytest


def parts() -> RequestPartRows:
    return RequestPartRows("run_1", Redactor(["a-secret-value"], ["email"]))


def test_a_text_is_kept_when_it_is_shown_again_and_only_then() -> None:
    kept = parts()

    assert kept.keep_beside("long") is None
    assert kept.take() == []
    sha256 = kept.keep_beside("long")
    assert sha256 == hashlib.sha256(b"long").hexdigest()
    assert kept.take() == [("run_1", sha256, b'"long"')]
    assert kept.keep_beside("long") == sha256
    assert kept.take() == []


def test_the_hash_is_that_of_the_text_as_it_is_written() -> None:
    kept = parts()
    text = "ann@example.org has a-secret-value"
    kept.keep_beside(text)
    sha256 = kept.keep_beside(text)
    ((_, named, data),) = kept.take()

    assert json.loads(data) == "[redacted:email] has [redacted]"
    assert sha256 == named == hashlib.sha256(json.loads(data).encode()).hexdigest()


def test_half_a_surrogate_pair_is_kept_as_text() -> None:
    kept = parts()
    kept.keep_beside("a\ud800")

    assert kept.keep_beside("a\ud800")
    assert json.loads(kept.take()[0][2]) == "a\ufffd"


def test_what_is_forgotten_is_new_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_parts, "MOST_KNOWN", 2)
    kept = parts()
    for text in ("a", "b", "c"):
        assert kept.keep_beside(text) is None

    assert kept.keep_beside("a") is None
