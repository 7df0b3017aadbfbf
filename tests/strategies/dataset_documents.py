"""Dataset documents to build, read and vary in a test."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.contracts.reading import Row
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue

CRITERIA = ("accuracy", "clarity", "reasoning", "factuality", "overall")
GOOD = b'{"record_id": "good", "input": {"prompt": "?"}}'


def record(**changes: JsonValue) -> JsonObject:
    """A good record with some fields changed or added."""
    return {"record_id": "q_0001", "input": {"prompt": "What is 2 + 2?"}, **changes}


def header(**changes: JsonValue) -> JsonObject:
    """A good header with some fields changed or added."""
    return {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0", **changes}


def without(value: JsonObject, *names: str) -> JsonObject:
    """An object that lacks some fields."""
    return {name: item for name, item in value.items() if name not in names}


def document(*records: JsonValue, **changes: JsonValue) -> JsonObject:
    """A document with these records, or with one good one."""
    return {**header(**changes), "records": list(records) or [record()]}


def written(value: JsonValue) -> bytes:
    """A value as JSON in UTF-8; a lone surrogate becomes its escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


def raw_document(*records: bytes, more: bytes = b"") -> bytes:
    """A document of records, and perhaps of a header field, that are written out."""
    top = written(header())[:-1] + (b", " + more if more else b"")
    return top + b', "records": [' + b", ".join(records) + b"]}"


def opened(content: bytes | JsonValue) -> DatasetDocumentReading:
    """A document that was opened, from bytes or from a value."""
    return DatasetDocumentReading(content if isinstance(content, bytes) else written(content))


def read_rows(content: bytes | JsonValue) -> list[Row]:
    """All rows of a document whose header is right."""
    reading = opened(content)
    assert reading.findings == ()
    return list(reading.rows())


def read_record(value: bytes | JsonValue) -> Row:
    """The row of one record; the good record after it stays good."""
    raw = value if isinstance(value, bytes) else written(value)
    first, second = read_rows(raw_document(raw, GOOD))
    assert second.findings == ()
    return first


def read_dataset(data: bytes) -> Dataset:
    """The dataset of a document with all of its accepted records."""
    reading = opened(data)
    return reading.dataset(tuple(reading.case(row) for row in reading.rows() if row.is_accepted))


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Code and path of each finding."""
    return [(finding.code, finding.path) for finding in findings]


def errors(content: bytes | JsonValue) -> list[tuple[str, str]]:
    """Code and path of what is wrong with the document as a whole."""
    return told(opened(content).findings)


def record_errors(value: bytes | JsonValue) -> list[tuple[str, str]]:
    """Code and path of what is wrong with one record, the first of two."""
    return told(read_record(value).findings)


# Letters of several scripts, marks that compose, quotes and brackets, odd but legal characters.
ALPHABET = "ab0 _-.\t\n\r\"\\/{}[],:'éßΩжש語ạ\u0323\u0301\u2028\ufeff\ue000\uffff\N{PARROT}"


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def texts(low: int = 0, high: int = 20) -> st.SearchStrategy[str]:
    """Text that the contract allows, in NFC."""
    return st.text(ALPHABET, min_size=low, max_size=high).map(_nfc)


_NAMES = texts(0, 6).map(lambda text: f"x-{text}-of-our-own")
_NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
_LEAVES: st.SearchStrategy[JsonValue] = st.none() | st.booleans() | _NUMBERS | texts()


def _one_level_more(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    listed = st.lists(inner, max_size=3)
    return st.one_of(inner, listed, st.dictionaries(_NAMES, inner, max_size=2))


VALUES = _one_level_more(_one_level_more(_LEAVES))
"""JSON values of up to two levels."""
OBJECTS = st.dictionaries(_NAMES, VALUES, max_size=2)
"""Objects with fields of their author's own, near to no known name."""
METADATA = st.dictionaries(texts(0, 8), VALUES, max_size=2)
"""Objects with fields of any name."""


def _answered(answer: str, more: JsonObject) -> JsonObject:
    return {"answer": answer, **more}


def _asked(prompt: str, more: JsonObject) -> JsonObject:
    return {"prompt": prompt, **more}


_REQUIRED: dict[str, st.SearchStrategy[Any]] = {
    "record_id": texts(1, 12),
    "input": st.builds(_asked, texts(1), OBJECTS),
}
_LATENCIES = st.integers(1, 120_000)
_EXPECTATIONS: dict[str, st.SearchStrategy[Any]] = {
    "max_latency_ms": _LATENCIES | _LATENCIES.map(float),
    "required_criteria": st.lists(st.sampled_from(CRITERIA), max_size=3),
}
_OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "reference": OBJECTS | st.builds(_answered, texts(), OBJECTS),
    "tags": st.lists(texts(1, 8), max_size=4),
    "expected": st.fixed_dictionaries({}, optional=_EXPECTATIONS),
    "metadata": METADATA,
}
RECORDS: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(_REQUIRED, optional=_OPTIONAL)
"""Records that the contract allows."""


def _document(top: JsonObject, more: JsonObject, listed: list[JsonObject]) -> JsonObject:
    by_id = {str(value["record_id"]): value for value in listed}
    return {**header(), **top, **more, "records": [*by_id.values()]}


_HEADER: dict[str, st.SearchStrategy[Any]] = {"dataset_version": texts(1)}
_OPTIONAL_HEADER: dict[str, st.SearchStrategy[Any]] = {
    "metadata": METADATA,
    "created_at": st.datetimes().map(lambda time: time.isoformat() + "Z"),
}
_HEADERS: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(_HEADER, optional=_OPTIONAL_HEADER)
DOCUMENTS = st.builds(_document, _HEADERS, OBJECTS, st.lists(RECORDS, min_size=1, max_size=3))
"""Documents that the contract allows."""
