"""What a target was asked, as a row: cut where records have a text in common, and whole again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.json_value import JsonObject
from steelyard.model.run import AskedContent, Asking, Result
from steelyard.results.requests import LONG, request_row, whole_request

DOCUMENT = "The lease ends in May. " * 100
OTHER = "The rent is due. " * 100


def asked(*messages: tuple[str, AskedContent], documents: tuple[str, ...] = ()) -> Result:
    asking = Asking(messages=messages, sha256="ab", documents=documents)
    return Result(
        index=0,
        record_id="a",
        status="evaluated",
        attempts=1,
        response_source="sampled",
        asking=asking,
    )


class Shelf:
    """Keeps every text beside under its number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def keep(self, text: str) -> str:
        self.texts.append(text)
        return str(len(self.texts) - 1)

    def text(self, sha256: str) -> str:
        return self.texts[int(sha256)]


def made(result: Result, shelf: Shelf) -> JsonObject:
    row = request_row(result, shelf.keep)
    assert row
    return row


def test_short_messages_stand_as_they_are() -> None:
    shelf = Shelf()

    assert made(asked(("system", "Be kind."), ("user", "When?")), shelf) == {
        "sent": True,
        "sha256": "ab",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "When?"},
        ],
    }
    assert shelf.texts == []


def test_a_document_within_a_message_is_kept_beside_and_the_question_stays() -> None:
    shelf = Shelf()
    text = f"<file>\n{DOCUMENT}\n</file>\n\n{OTHER}\n\nWhen does it end?"
    row = made(asked(("user", text), documents=(DOCUMENT, "not there" * 200, OTHER)), shelf)

    assert shelf.texts == [DOCUMENT, OTHER]
    assert row["messages"] == [
        {
            "role": "user",
            "content": [
                "<file>\n",
                {"sha256": "0"},
                "\n</file>\n\n",
                {"sha256": "1"},
                "\n\nWhen does it end?",
            ],
        }
    ]


def test_what_is_not_to_be_kept_beside_stands_in_its_place() -> None:
    row = request_row(asked(("user", DOCUMENT)), lambda _: None)

    assert row
    assert row["messages"] == [{"role": "user", "content": DOCUMENT}]


@pytest.mark.parametrize("source", ["prefilled", "part_of_conversation", "cached"])
def test_recordings_and_known_answers_were_not_sent(source: str) -> None:
    result = Result(
        index=0,
        record_id="a",
        status="evaluated",
        attempts=1,
        response_source=source,
        asking=Asking(messages=(), sha256="ab"),
    )
    row = request_row(result, lambda _: None)

    assert row
    assert row["sent"] is False


def test_a_record_that_was_never_asked_was_not_sent_and_a_broken_one_has_no_request() -> None:
    cancelled = Result(
        index=0, record_id="a", status="cancelled", asking=Asking(messages=(), sha256="ab")
    )

    assert made(cancelled, Shelf())["sent"] is False
    assert request_row(Result(index=0, record_id="a", status="invalid_record"), str) is None


@given(
    st.lists(st.sampled_from(["", "a", DOCUMENT, OTHER, "b" * LONG]), max_size=6),
    st.lists(st.sampled_from([DOCUMENT, OTHER, "never " * 300]), max_size=3),
)
def test_what_was_cut_is_whole_again(parts: list[str], documents: list[str]) -> None:
    shelf, text = Shelf(), "".join(parts)
    row = made(asked(("user", text), documents=tuple(documents)), shelf)

    assert whole_request(row, shelf.text)["messages"] == [{"role": "user", "content": text}]


def test_what_is_no_text_keeps_its_place_between_the_texts() -> None:
    shelf = Shelf()
    image: JsonObject = {"type": "image", "sha256": "cd", "media_type": "image/png", "size": 7}
    row = made(asked(("user", ("Look:", image, DOCUMENT))), shelf)

    assert row["messages"] == [{"role": "user", "content": ["Look:", image, {"sha256": "0"}]}]
    assert whole_request(row, shelf.text)["messages"] == [
        {"role": "user", "content": ["Look:", image, DOCUMENT]}
    ]
