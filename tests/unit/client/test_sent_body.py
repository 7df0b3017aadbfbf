"""Dataset documents are sent in Unicode NFC, whatever they are given as."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.client.composed_json import composed_json
from steelyard.client.sent_body import SentBody, document_body, json_body
from steelyard.errors import InvalidError
from steelyard.formats.encoding import normalized

NFD = {"cafe\u0301": ["e\u0301", {"a": "o\u0308 and \n\u0301"}], "plain": 1.50}
TEXT = st.text(
    st.sampled_from('eo<n"\\\n\u0301\u0308\u0338\u00e9\u1100\u1161\U00011099\U000110ba')
)


def sent(body: SentBody) -> bytes:
    return b"".join(body.blocks(7))


@pytest.mark.parametrize("is_escaped", [True, False])
def test_a_document_is_composed_as_value_as_bytes_and_as_file(
    tmp_path: Path, is_escaped: bool
) -> None:
    data = json.dumps(NFD, ensure_ascii=is_escaped).encode()
    path = tmp_path / "d.json"
    path.write_bytes(data)

    for content in (NFD, data, path, str(path)):
        assert json.loads(sent(document_body(content))) == normalized(json.loads(data))


@given(
    st.recursive(TEXT, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner)), st.booleans()
)
def test_what_is_composed_is_the_normalized_value(value: Any, is_escaped: bool) -> None:
    data = json.dumps(value, ensure_ascii=is_escaped).encode()

    assert json.loads(composed_json(data)) == normalized(value)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1.50, "a": 1e400}',
        b'["\\ud800", "\\u0000", "\\u0022", "\\\\u0065"]',
        b'["\xff"]',
        '["\u00e9"]'.encode(),
    ],
)
def test_what_needs_no_change_is_sent_as_it_is(data: bytes) -> None:
    assert sent(document_body(data)) == data


def test_an_escape_on_the_edge_of_two_blocks_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    for place in range(1024 * 1024 - 8, 1024 * 1024 + 1):
        path.write_bytes(b'["' + b"x" * (place - 3) + b'e\\u0301"]')

        (text,) = json.loads(b"".join(document_body(path).blocks(1 << 20)))
        assert unicodedata.is_normalized("NFC", text)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("made", [json_body, document_body])
def test_numbers_that_json_lacks_are_refused(
    made: Callable[[dict[str, Any]], object], number: float
) -> None:
    with pytest.raises(InvalidError, match="not a number that JSON can hold"):
        made({"dataset_id": "d", "metadata": {"x": [1.0, (number,)]}})
