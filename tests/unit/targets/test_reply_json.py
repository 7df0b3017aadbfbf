"""The JSON of a reply."""

from __future__ import annotations

from codecs import BOM_UTF8

import pytest

from steelyard.errors import TargetError
from steelyard.targets.reply_json import refusal_text, reply_value


def test_a_byte_order_mark_before_a_reply_is_ignored() -> None:
    assert reply_value(BOM_UTF8 + b'{"a": 1}') == {"a": 1}
    assert refusal_text(BOM_UTF8 + b'{"error": {"message": "no"}}') == "no"


def test_a_second_mark_is_no_json() -> None:
    with pytest.raises(TargetError, match="not JSON"):
        reply_value(BOM_UTF8 * 2 + b"{}")
