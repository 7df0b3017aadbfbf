"""LEXam: exam questions of law, open ones and multiple choice."""

from __future__ import annotations

import re

from steelyard.contracts.importers.source_row import (
    Columns,
    content_hash,
    legal_row,
    mcq,
    texts,
    whole,
    wrong,
)
from steelyard.model.json_value import JsonObject, JsonValue

OPEN_POLICY = "lexam_oq_v1"
MCQ_POLICY = "lexam_mcq_v1"
_PERTURBED = re.compile(r"(\d+)_choices", re.IGNORECASE)


def import_lexam(record: JsonObject) -> list[JsonObject]:
    """One question; of the perturbed questions, one row for each number of choices.

    A question's id recurs with other numbers of choices, so the number is part of the case's.
    """
    columns = Columns(record)
    question = columns.text("question")
    answer, gold = columns.take("answer"), columns.take("gold")
    choices = columns.take("choices")
    has_id = columns.take("id") is not None
    source = columns.label("id") if has_id else content_hash(question, choices)
    offers = _perturbed(record, columns) if choices is None else [("choices", choices, gold)]
    metadata: JsonObject = {**columns.rest(), "source_id": source}
    if not offers:
        return [_open(source, question, answer, metadata)]
    if answer is not None:
        metadata["answer"] = answer
    return [_choice(source, question, offer, metadata) for offer in offers]


def _open(source: str, question: str, answer: JsonValue, metadata: JsonObject) -> JsonObject:
    if not isinstance(answer, str) or not answer.strip():
        raise wrong("an open question needs a text in column 'answer'; 'choices' is absent too")
    row = legal_row(f"lexam:open:{source}", "lexam", "reference_qa", question)
    row["reference_answers"] = [answer]
    row["metadata"] = {**metadata, "policy_id": OPEN_POLICY}
    return row


def _choice(
    source: str, question: str, offer: tuple[str, JsonValue, JsonValue], metadata: JsonObject
) -> JsonObject:
    name, choices, gold = offer
    options = texts(choices, name)
    index = whole(gold)
    if index is None:
        raise wrong(f"the right answer must be the number of a choice, not {gold!r}")
    row = legal_row(f"lexam:mcq:{source}:{len(options)}", "lexam", "mcq", question)
    row.update(mcq(options, index))
    row["metadata"] = {**metadata, "gold_index": index, "policy_id": MCQ_POLICY}
    return row


def _perturbed(record: JsonObject, columns: Columns) -> list[tuple[str, JsonValue, JsonValue]]:
    found: list[tuple[str, JsonValue, JsonValue]] = []
    for name in record:
        match = _PERTURBED.fullmatch(name)
        if match:
            spelled = [columns.take(f"{part}_gold") for part in (name, match[1])]
            gold = next((value for value in spelled if value is not None), None)
            choices = columns.take(name)
            if choices is not None:
                found.append((name, choices, gold))
    return found
