"""What hidden fields hold is gathered from a whole record, and what quotes a part of it too."""

from __future__ import annotations

import json

from steelyard.engine.redaction.hidden_values import cut_values, hidden_values
from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.json_value import JsonObject
from steelyard.settings import RedactionRules

NAME = "Zaphod Beeblebrox"


def test_all_fields_whose_path_ends_so_are_gathered_the_longest_first() -> None:
    record: JsonObject = {
        "input": {"customer": {"names": ["Beeblebrox", NAME, "short"], "number": 12345678}},
        "others": [[{"customer": "Trillian"}]],
        "card": "4711-ABCDEF",
        "metadata": {"card": "0815-ABCDEF", "other": "harmless"},
    }
    found = hidden_values(("customer", "metadata.card"), record, {"customer": NAME})

    assert found == (
        ("customer", NAME),
        ("metadata.card", "0815-ABCDEF"),
        ("customer", "Beeblebrox"),
        ("customer", "12345678"),
        ("customer", "Trillian"),
    )
    assert hidden_values((), record) == ()


def test_what_is_redacted_already_is_no_value() -> None:
    assert hidden_values(("customer",), {"customer": "[redacted:customer]"}) == ()


def test_a_message_that_stops_within_a_value_has_its_beginning() -> None:
    private = (("customer", NAME),)
    said = ["not 'Zaphod Beeb...", "not '...", "not Zaphod...", f"all of {NAME}..."]

    assert cut_values(private, said) == (("customer", "Zaphod Beeb"),)


def test_a_whole_value_keeps_no_text_of_its_hidden_fields_and_counts_each_place_once() -> None:
    redact = Redactor.by(RedactionRules(patterns=(), fields=("customer",)), ())
    value: JsonObject = {
        "customer": [NAME, 12345678],
        "said": f"{NAME} has 12345678",
        "number": 12345678,
    }

    assert json.loads(redact.whole(value)) == {
        "customer": "[redacted:customer]",
        "said": "[redacted:customer] has [redacted:customer]",
        "number": "[redacted:customer]",
    }
    assert redact.take_counts() == {"field:customer": 4}
