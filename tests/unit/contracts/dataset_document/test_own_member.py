"""A member of ours that is taken out of a document."""

from __future__ import annotations

import pytest

from steelyard.contracts.dataset_document.own_member import take_out
from steelyard.errors import InvalidError


@pytest.mark.parametrize(
    ("document", "left", "value"),
    [
        (b'{"run": {"a": 1}, "b": 2}', b'{"b": 2}', {"a": 1}),
        (b'{"b": 2, "run": 7}', b'{"b": 2}', 7),
        (b'{"b": 2 , "run" : [1] , "c": 3}', b'{"b": 2  , "c": 3}', [1]),
        (b'{"run": {}}', b"{}", {}),
        (b'\xef\xbb\xbf{"run": 1,\r\n"b": {"run": 2}}', b'{"b": {"run": 2}}', 1),
        (b'{"b": "\\ud800", "run": 1}', b'{"b": "\\ud800"}', 1),
        (b'{"b\\"": "run", "run": 1}', b'{"b\\"": "run"}', 1),
        (b'{"r\\u0075n": 1, "b": "\xc3\xa9"}', b'{"b": "\xc3\xa9"}', 1),
    ],
)
def test_the_rest_of_a_document_stays_as_it_is(
    document: bytes, left: bytes, value: object
) -> None:
    taken = take_out(document, "run")

    assert taken is not None
    assert (taken.document, taken.value) == (left, value)


def test_a_document_that_nests_too_deep_keeps_its_depth() -> None:
    deep = b"[" * 2000 + b"]" * 2000

    taken = take_out(b'{"records": [%s], "run": 1}' % deep, "run")

    assert taken is not None
    assert (taken.document, taken.names) == (b'{"records": [%s]}' % deep, ("records",))


@pytest.mark.parametrize("document", [b"", b"[]", b"{", b"\xff", b'{"b": {"run": 1}}', b"null"])
def test_nothing_is_taken_out_where_it_is_not(document: bytes) -> None:
    assert take_out(document, "run") is None


@pytest.mark.parametrize("document", [b'{"run": 1, "run": 2}', b'{"a": 1, "a": 22, "run": 1}'])
def test_a_name_that_is_given_twice_is_refused(document: bytes) -> None:
    with pytest.raises(InvalidError, match="given twice"):
        take_out(document, "run")
