"""A text that is JSON stays JSON when something in it is replaced."""

from __future__ import annotations

import json

import pytest

from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.settings import REDACTED_KINDS as KINDS
from steelyard.settings import RedactionRules

CARD = 4111111111111111
RULES = RedactionRules(patterns=KINDS, custom=(("four", "[0-9]{4}x|9{4}"),))
MARKED = '"[redacted:card]"'


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f'{{"card": {CARD}}}', f'{{"card": {MARKED}}}'),
        (f'{{"card":{CARD} , "a": 1.50}}', f'{{"card":{MARKED} , "a": 1.50}}'),
        (f" [{CARD}, -{CARD}]\n", f" [{MARKED}, {MARKED}]\n"),
        (f'{{"card": "{CARD}"}}', f'{{"card": {MARKED}}}'),
        ('{"api_key": 123456789012}', '{"api_key": "[redacted:key]"}'),
        ('{"n": 999912349999}', '{"n": "[redacted:four]"}'),
        (f'{{"said": "{{\\"card\\": {CARD}}}"}}', json.dumps({"said": f'{{"card": {MARKED}}}'})),
        (f"{{card: {CARD}}}", "{card: [redacted:card]}"),
        (f"{CARD}", "[redacted:card]"),
        (f"[see {CARD}", "[see [redacted:card]"),
    ],
)
def test_marks_for_numbers_are_quoted_where_the_text_is_json(said: str, kept: str) -> None:
    redact = Redactor.by(RULES, ())

    assert json.loads(redact(json_bytes({"response": said})))["response"] == kept
    assert redact.text(said) == kept


def test_a_secret_of_digits_is_quoted_too() -> None:
    redact = Redactor(["1234567890"])

    assert redact.text('{"key": 1234567890}') == '{"key": "[redacted]"}'


def test_what_is_replaced_in_inner_texts_is_counted_once() -> None:
    redact = Redactor.by(RULES, ())
    redact(json_bytes({"response": json.dumps({"said": json.dumps({"card": CARD})})}))

    assert redact.take_counts() == {"card": 1}
