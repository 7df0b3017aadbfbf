"""Whatever stands in a file, reading it ends and says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.contracts.eval_cases.cases import CaseBuilder
from steelyard.contracts.eval_cases.defaults import Defaults
from steelyard.contracts.eval_cases.reader import EvalCasesJsonl
from steelyard.contracts.eval_cases.writer import write_eval_cases_rows
from steelyard.contracts.schemas import load_schema
from steelyard.formats.schema import Schema
from steelyard.model.case import Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import CODES
from steelyard.model.json_value import JsonObject, JsonValue, path_text
from strategies.effort import examples
from strategies.eval_cases import KnownFiles, cases, json_values
from strategies.eval_folder import EvalFolder

VALID = Path(__file__).parents[3] / "corpus" / "eval_cases" / "valid"
SEEDS = {
    extension: sorted(path.read_bytes() for path in VALID.glob(f"*{extension}"))
    for extension in (".yaml", ".jsonl")
}
# What breaks files: marks of the formats, odd characters, other types, names of the contract.
SHARDS = [
    *(b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"- ", b"  ", b"\t", b"#", b"|"),
    *(
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\\ud800",
        b"*a",
        b"&a ",
        b"<<: ",
        b"!!",
    ),
    *(b"null", b"true", b"5", b"-1e999", b"NaN", b'""', b"[]", b"{}", b"---\n", b"~"),
    *(b"evalcases", b"tests", b"input", b"rubrics", b"evaluators", b"composite", b"prompt"),
]
CASES = cases()
CASE_SCHEMA = Schema(load_schema("eval_cases"), "#/$defs/case")
MESSAGE_SCHEMA = Schema(load_schema("eval_cases"), "#/$defs/message")


@st.composite
def damaged(draw: st.DrawFn, extension: str) -> bytes:
    """A valid file with a few cuts, repeats and strange bytes in it."""
    data = draw(st.sampled_from(SEEDS[extension]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        middle = draw(st.sampled_from([b"", data[start:end] * 2, *SHARDS]))
        data = data[:start] + middle + data[end:]
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> EvalFolder:
    made = EvalFolder(tmp_path_factory.mktemp("fuzz"))
    for path in (VALID / "shared").iterdir():
        made.write(f"shared/{path.name}", path.read_bytes())
    return made


def check(folder: EvalFolder, name: str, data: bytes) -> None:
    folder.write(name, data)
    file = folder.report(name).files[-1]

    assert 0 <= file.accepted <= file.total
    assert {finding.code for finding in file.findings} <= set(CODES)
    assert file.accepted == file.total or not file.is_valid


@given(damaged(".yaml"))
@settings(max_examples=examples(300))
def test_a_damaged_yaml_file_never_raises(folder: EvalFolder, data: bytes) -> None:
    """EC-12"""
    check(folder, "document.yaml", data)


@given(damaged(".yaml"))
@settings(max_examples=examples(200))
def test_a_damaged_sidecar_never_raises(folder: EvalFolder, data: bytes) -> None:
    """EC-32"""
    folder.write("beside.jsonl", SEEDS[".jsonl"][-1])

    check(folder, "beside.yaml", data)


@given(damaged(".jsonl"))
@settings(max_examples=examples(300))
def test_a_damaged_jsonl_file_never_raises(folder: EvalFolder, data: bytes) -> None:
    """EC-11"""
    check(folder, "lines.jsonl", data)


@given(st.binary(max_size=200))
@settings(max_examples=examples(200))
@pytest.mark.parametrize("name", ["random.yaml", "noise.jsonl"])
def test_random_bytes_never_raise(folder: EvalFolder, name: str, data: bytes) -> None:
    """EC-11, EC-12"""
    check(folder, name, data)


@given(st.lists(json_values, max_size=3))
@settings(max_examples=examples(200))
def test_lines_of_any_json_never_raise(folder: EvalFolder, values: list[JsonValue]) -> None:
    """EC-13"""
    check(folder, "any.jsonl", "".join(json.dumps(value) + "\n" for value in values).encode())


def members(value: JsonValue) -> Iterator[tuple[JsonObject, str]]:
    """Every name in a value, with the object that holds it."""
    if isinstance(value, list):
        for item in value:
            yield from members(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield value, name
            yield from members(item)


@st.composite
def almost_rows(draw: st.DrawFn) -> JsonObject:
    """A good row in which a name may be misspelt, a member removed or a value replaced."""
    dataset = Dataset(id="data", contract="eval_cases", cases=(draw(CASES),))
    row: JsonObject = json.loads(write_eval_cases_rows(dataset))
    change = draw(st.sampled_from(["none", "misspell", "remove", "replace"]))
    if change != "none":
        holder, name = draw(st.sampled_from(list(members(row))))
        value = holder.pop(name)
        if change == "misspell":
            holder[f"{name}s"] = value
        if change == "replace":
            holder[name] = draw(json_values)
    return row


@given(almost_rows())
@settings(max_examples=examples(300))
def test_what_is_accepted_fast_has_no_problem_when_looked_at_slowly(value: JsonObject) -> None:
    """EC-59"""
    line = json.dumps(value, ensure_ascii=False).encode()
    defaults = Defaults.without_file("data")
    (row,) = EvalCasesJsonl(lambda: BytesIO(line), defaults, files=KnownFiles()).rows()

    slow = CASE_SCHEMA.problems(value)
    if not any(problem.severity == "error" for problem in slow):
        builder = CaseBuilder(value, defaults, KnownFiles(), MESSAGE_SCHEMA)
        builder.case(Place())
        slow = [*slow, *builder.problems]
    assert sorted((found.code, found.path) for found in row.findings) == sorted(
        (problem.code, path_text(problem.path)) for problem in slow
    )
