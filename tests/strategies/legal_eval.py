"""Rows, documents and datasets of legal_eval, for table tests and for hypothesis."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any, cast

from hypothesis import strategies as st

from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.reader import LegalEvalJsonl
from steelyard.contracts.reading import Row
from steelyard.model.case import AnswerChoice, Attachment, Case, Criterion
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message
from steelyard.ports import FileFault, FoundFile, NoFiles

CHOICES: list[JsonValue] = [{"id": "A", "text": "Yes"}, {"id": "B", "text": "No"}]
CRITERIA: list[JsonValue] = [
    {"id": "c1", "title": "Names the law", "weight": 7},
    {"id": "c2", "title": "Invents a law", "description": "Any.", "weight": -3.5},
]
OWN: dict[str, JsonObject] = {
    "rubric_qa": {"rubric": CRITERIA},
    "reference_qa": {"reference_answers": ["Within a month."]},
    "mcq": {"choices": CHOICES, "correct_choice_ids": ["B"]},
}
"""What each type of task demands."""
FOUND = {
    "documents/lease.pdf": FoundFile("/data/documents/lease.pdf", "The rent is due."),
    "documents/notes.md": FoundFile("/data/documents/notes.md", "Notes\n"),
    "documents/scan.pdf": FoundFile("/data/documents/scan.pdf", " \n"),
    "documents/plan.svg": FoundFile("/data/documents/plan.svg", "<svg/>"),
    "documents/photo.png": FileFault("invalid_encoding", "photo.png is not UTF-8 text"),
    "documents/broken.pdf": FileFault("unreadable_file", "broken.pdf: not a PDF"),
    "documents/latin.txt": FileFault("invalid_encoding", "latin.txt is not UTF-8 text"),
    "documents/huge.pdf": FileFault("record_too_large", "huge.pdf is larger than 10 MB"),
}


class KnownFiles(NoFiles):
    """The documents that rows attach, good and bad."""

    def read(self, reference: str) -> FoundFile | FileFault:
        """One of a few documents."""
        return FOUND.get(reference) or FileFault("missing_file", f"no such file: {reference}")


def row(kind: str = "reference_qa", /, **changes: JsonValue) -> JsonObject:
    """A good row of a type with some fields changed or added."""
    return {
        "schema_version": "legal_eval_v1",
        "id": "q1",
        "dataset": "tenancy",
        "task_type": kind,
        "prompt": "When must rent be paid?",
        **OWN[kind],
        **changes,
    }


def without(name: str, task_type: str = "reference_qa") -> JsonObject:
    """A row that lacks one field of a good one."""
    return {key: value for key, value in row(task_type).items() if key != name}


def jsonl(*values: JsonValue) -> bytes:
    """Values as lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def opened(data: bytes) -> LegalEvalJsonl:
    """A file with these bytes, beside the known documents."""
    return LegalEvalJsonl(lambda: BytesIO(data), "data", files=KnownFiles())


def rows_of(*values: JsonValue) -> list[Row]:
    """What the reader makes of values, one a line."""
    return list(opened(jsonl(*values)).rows())


def found_in(value: JsonValue) -> list[tuple[str, str, str]]:
    """Severity, code and path of everything found in one row."""
    (read,) = rows_of(value)
    return [(found.severity, found.code, found.path) for found in read.findings]


def case_of(value: JsonObject) -> Case:
    """The case of a good row."""
    reading = opened(jsonl(value))
    (read,) = reading.rows()
    assert read.is_accepted, read.findings
    return reading.case(read)


def read_back(data: bytes) -> Dataset:
    """The dataset in a file without an error."""
    reading = opened(data)
    read = list(reading.rows())
    assert [found for one in read for found in one.findings if found.is_error] == []
    return reading.dataset(tuple(reading.case(one) for one in read))


def pdf(text: str) -> bytes:
    """A PDF of one page that says a text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode("ascii") if text else b""
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, places = b"%PDF-1.4\n", list[int]()
    for number, part in enumerate(parts, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(data)
    return data + b"xref\n0 6\n0000000000 65535 f \n" + table + end


texts = st.text(max_size=12)
# Not every blank of Python is one of the schema, and the other way round.
filled = texts.map(lambda text: text if text.strip("\ufeff").strip() else f"{text}a")
odd = st.sampled_from(["\x1f", "\x85", "\x00", "a\ufeff"])
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    cast("st.SearchStrategy[JsonValue]", scalars),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=4,
)
# Fields that the contract does not know and that are near to none it knows.
BEYOND: list[JsonObject] = [{}, {"x_a": 1}, {"x_b": {"c": [None, "ä"]}, "zz": "2025-01-01"}]
extras = st.sampled_from(BEYOND)
weights = st.just(1.0) | st.integers(-10, 10) | st.floats(-100, 100)
criteria = st.builds(
    Criterion, id=filled, title=filled, description=texts, weight=weights, extra=extras
)
choices = st.builds(AnswerChoice, filled, filled, extras)
messages = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "system"]),
    content=filled | odd,
    extra=extras,
)


def _attachment(path: str, kind: str | None, title: str | None, extra: JsonObject) -> Attachment:
    found = FOUND.get(path)
    is_read = path.endswith((".pdf", ".md"))
    text = found.text if is_read and isinstance(found, FoundFile) else None
    return Attachment(path=path, kind=kind, title=title, text=text, extra=extra)


attachments = st.builds(
    _attachment,
    st.sampled_from(
        ["documents/lease.pdf", "documents/notes.md", "documents/photo.png", "no.pdf"]
    ),
    st.sampled_from([None, "file"]),
    st.none() | texts,
    extras,
)


def _case(task_type: str, fields: dict[str, Any], own: JsonObject) -> Case:
    """The case that a reader would make of these fields."""
    asked: tuple[Message, ...] = fields.pop("messages")
    prompt: str = fields.pop("prompt")
    last = asked[-1] if asked else None
    extra = dict(fields.pop("extra"))
    if last is None or last.role != "user":
        asked = (*asked, Message(role="user", content=prompt))
    elif len(prompt) % 2:
        # The last turn says more than the prompt, which is kept beside it.
        text = f"Text to read: {prompt}"
        asked = (*asked[:-1], Message(role="user", content=text, extra=last.extra))
        extra = {"prompt": prompt, **extra}
    metadata = {"policy_id": fields.pop("policy"), **fields.pop("metadata")}
    return Case(
        task_type=task_type,
        input_messages=asked,
        metadata=metadata,
        extra=extra,
        **fields,
        **cast(dict[str, Any], own),
    )


def _mcq(offered: list[AnswerChoice], picked: int) -> dict[str, Any]:
    ids = [choice.id for choice in offered]
    return {"choices": tuple(offered), "correct_choice_ids": tuple(ids[: 1 + picked % len(ids)])}


_OWN = {
    "rubric_qa": st.fixed_dictionaries(
        {
            "criteria": st.lists(
                criteria, min_size=1, max_size=3, unique_by=lambda criterion: criterion.id
            ).map(tuple),
            "reference_answers": st.lists(texts, max_size=2).map(tuple),
        }
    ),
    "reference_qa": st.fixed_dictionaries(
        {"reference_answers": st.lists(filled, min_size=1, max_size=2).map(tuple)}
    ),
    "mcq": st.builds(
        _mcq,
        st.lists(choices, min_size=2, max_size=4, unique_by=lambda choice: choice.id),
        st.integers(0, 3),
    ),
}
_FIELDS = st.fixed_dictionaries(
    {
        "id": filled,
        "dataset": filled,
        "prompt": filled | odd,
        "context": texts,
        "messages": st.lists(messages, max_size=3).map(tuple),
        "attachments": st.lists(attachments, max_size=2).map(tuple),
        "metadata": st.dictionaries(
            texts.filter(lambda name: name != "policy_id"), json_values, max_size=2
        ),
        "policy": st.sampled_from(built_in_policies().ids),
        "extra": extras,
    }
)
cases: st.SearchStrategy[Case] = st.one_of(
    *(st.builds(_case, st.just(kind), _FIELDS, own) for kind, own in _OWN.items())
)
datasets = st.builds(
    Dataset,
    id=st.just("data"),
    contract=st.just("legal_eval"),
    cases=st.lists(cases, max_size=3, unique_by=lambda case: case.id).map(tuple),
)
