"""Conversion: files of one contract to another, whole and checked, with a true report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from fakes import benchmark_rows
from fakes.contracts import CONTRACTS, DATASETS, FIELDS
from fakes.conversions import Desk
from steelyard.contracts.dataset_document.writer import write_dataset_document
from steelyard.contracts.eval_cases.writer import write_eval_cases_yaml
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.model.case import Case
from steelyard.model.conversion import OUTCOMES, Conversion
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.convert import sources
from strategies import dataset_documents, eval_cases
from strategies.effort import examples

PAGE = (Path(__file__).parents[4] / "docs" / "convert.md").read_text(encoding="utf-8")
EXTENSIONS = {
    "legal_eval": ".jsonl",
    "dataset_document": ".json",
    "question_set": ".yaml",
    "eval_cases": ".yaml",
    "evals_json": ".json",
}
DOCUMENT: JsonObject = {
    "dataset_id": "qa",
    "dataset_version": "3",
    "schema_version": "1.0",
    "records": [
        {"record_id": "a", "input": {"prompt": "2 + 2?"}, "reference": {"answer": "4"}},
        {
            "record_id": "b",
            "input": {"prompt": "Capital of France?", "lang": "en"},
            "reference": {"answer": "Paris"},
            "tags": ["geo"],
            "metadata": {"level": 1},
        },
    ],
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def counts(made: Conversion) -> tuple[int, int, int, int, int]:
    invalid, skipped, left_out = (made.count(outcome) for outcome in OUTCOMES)
    assert made.read == made.emitted + invalid + skipped + left_out
    return made.read, made.emitted, invalid, skipped, left_out


def fields(made: Conversion) -> dict[str, str]:
    return {field.field: "lost" if field.is_lost else "moved" for field in made.fields}


def known(case: Case) -> tuple[str, str, tuple[str, ...]]:
    """What every contract can hold of a plain question."""
    answer = case.answers or ((case.expected_outcome,) if case.expected_outcome else ())
    return case.id, case.input_messages[0].text, answer


@pytest.mark.parametrize("to", [name for name in DATASETS if name != "dataset_document"])
def test_a_document_goes_to_any_contract_and_comes_back(desk: Desk, to: str) -> None:
    desk.write("qa.json", DOCUMENT)
    name = f"out{EXTENSIONS[to]}"
    there = desk.convert("qa.json", to, name)
    desk.convert(name, "dataset_document", "back.json")

    assert counts(there) == (2, 2, 0, 0, 0)
    assert there.files == (str(desk.folder / name),)
    if to != "evals_json":
        assert [known(case) for case in desk.read("back.json").cases] == [
            known(case) for case in desk.read("qa.json").cases
        ]
    assert {case.id: case.metadata.get("level") for case in desk.read("back.json").cases} == {
        "a": None,
        "b": 1,
    }


def test_nothing_is_left_beside_the_result(desk: Desk) -> None:
    desk.write("qa.json", DOCUMENT)
    desk.convert("qa.json", "legal_eval", "deep/er/out.jsonl")

    assert desk.files == ["deep/er/out.jsonl", "qa.json"]


def test_fields_that_moved_or_are_lost_are_counted_with_their_first_cases(desk: Desk) -> None:
    row = benchmark_rows.lexam_mcq
    desk.write_rows("raw.jsonl", *(row(f"q{number}") for number in range(5)))
    desk.convert("raw.jsonl", "legal_eval", "mcq.jsonl", made_from="lexam")
    made = desk.convert("mcq.jsonl", "dataset_document", "out.json", flatten=True)
    choices = next(field for field in made.fields if field.field == "choices")

    assert (choices.count, choices.first) == (5, tuple(f"lexam:mcq:q{n}:3" for n in range(3)))
    assert (choices.message, choices.is_lost) == ("stand in the prompt", False)
    assert fields(made)["task_type"] == "moved"
    assert made.is_whole


def test_eval_cases_go_to_jsonl_with_a_sidecar_that_is_read_with_them(desk: Desk) -> None:
    desk.write(
        "in.yaml",
        "dataset: help\ndescription: Desk\nexecution: {target: live}\nevalcases:\n"
        "  - {id: a, expected_outcome: Greets, input: Hi}\n",
    )
    made = desk.convert("in.yaml", "eval_cases", "out.jsonl")

    assert made.files == (str(desk.folder / "out.jsonl"), str(desk.folder / "out.yaml"))
    assert desk.read("out.jsonl").cases == desk.read("in.yaml").cases
    assert desk.read("out.jsonl").description == "Desk"


def test_a_case_that_lacks_what_the_contract_demands_is_left_out_and_said(desk: Desk) -> None:
    desk.write(
        "in.yaml",
        "tests:\n"
        "  - {id: a, criteria: Greets, input: Hi}\n"
        "  - {id: b, input: Hi, expected_output: Hi}\n",
    )
    made = desk.convert("in.yaml", "eval_cases", "out.jsonl")
    (rows,) = made.unwritten

    assert counts(made) == (2, 1, 0, 0, 1)
    assert (rows.first, made.is_whole) == (("b",), False)
    assert "no expected_outcome, which eval_cases asks for in JSONL" in rows.reason


def test_a_case_that_nothing_grades_is_left_out_of_eval_cases(desk: Desk) -> None:
    records: list[JsonValue] = [
        {"record_id": "a", "input": {"prompt": "Q"}},
        {"record_id": "b", "input": {"prompt": "Q"}, "reference": {"answer": "A"}},
    ]
    desk.write("in.json", {**DOCUMENT, "records": records})
    made = desk.convert("in.json", "eval_cases", "out.yaml")

    assert counts(made) == (2, 1, 0, 0, 1)
    assert "nothing to grade by" in made.unwritten[0].reason


def test_what_our_own_reader_refuses_is_left_out_and_counts_for_no_field(desk: Desk) -> None:
    long = "x" * 129
    desk.write(
        "in.yaml",
        "tests:\n"
        f"  - {{id: {long}, input: Hi, expected_output: Hi, conversation_id: c}}\n"
        "  - {id: b, input: Hi, expected_output: Hi, conversation_id: c}\n",
    )
    made = desk.convert("in.yaml", "dataset_document", "out.json")

    assert counts(made) == (2, 1, 0, 0, 1)
    assert made.unwritten[0].reason == "record_id must have at most 128 characters"
    assert [(field.field, field.count, field.first) for field in made.fields] == [
        ("conversation_id", 1, ("b",))
    ]
    assert [case.id for case in desk.read("out.json").cases] == ["b"]


def test_a_row_of_the_source_that_is_wrong_is_invalid(desk: Desk) -> None:
    bad: JsonObject = {"record_id": "c", "input": {"prompt": 7}}
    records = [*json.loads(json.dumps(DOCUMENT["records"])), bad]
    desk.write("qa.json", {**DOCUMENT, "records": records})
    made = desk.convert("qa.json", "legal_eval", "out.jsonl")

    assert counts(made) == (3, 2, 1, 0, 0)
    assert made.unwritten[0].reason == "input.prompt must be a string"


def test_nothing_is_written_where_no_case_can_be(desk: Desk) -> None:
    desk.write("qa.json", {**DOCUMENT, "records": [{"record_id": "a", "input": {"prompt": "Q"}}]})
    made = desk.convert("qa.json", "legal_eval", "out.jsonl")

    assert (made.emitted, made.files, desk.files) == (0, (), ["qa.json"])


def test_nothing_is_written_where_the_reader_refuses_every_row(desk: Desk) -> None:
    long = "x" * 129
    desk.write("in.yaml", f"tests:\n  - {{id: {long}, input: Hi, expected_output: Hi}}\n")
    made = desk.convert("in.yaml", "dataset_document", "out.json")

    assert (made.emitted, made.files, desk.files) == (0, (), ["in.yaml"])


def test_an_existing_file_is_written_over_only_by_force(desk: Desk) -> None:
    desk.write("qa.json", DOCUMENT)
    desk.write("out.jsonl", "precious")

    with pytest.raises(RequestError, match=r"out\.jsonl exists; `force` writes over it"):
        desk.convert("qa.json", "legal_eval", "out.jsonl")
    assert (desk.folder / "out.jsonl").read_text(encoding="utf-8") == "precious"

    desk.convert("qa.json", "legal_eval", "out.jsonl", force=True)

    assert len(desk.rows("out.jsonl")) == 2


def test_an_existing_sidecar_is_written_over_only_by_force(desk: Desk) -> None:
    desk.write("in.yaml", "evalcases:\n  - {id: a, expected_outcome: Greets, input: Hi}\n")
    desk.write("out.yaml", "dataset: other\n")

    with pytest.raises(RequestError, match=r"out\.yaml exists"):
        desk.convert("in.yaml", "eval_cases", "out.jsonl")


def test_a_file_can_be_converted_in_its_own_place(desk: Desk) -> None:
    desk.write("qa.json", DOCUMENT)
    desk.convert("qa.json", "dataset_document", "qa.json", force=True)

    assert [case.id for case in desk.read("qa.json").cases] == ["a", "b"]


def test_without_an_output_the_bytes_are_shown(desk: Desk) -> None:
    desk.write("qa.json", DOCUMENT)
    made = desk.convert("qa.json", "legal_eval", None)
    rows = [json.loads(line) for line in b"".join(desk.shown).splitlines()]

    assert [row["id"] for row in rows] == ["a", "b"]
    assert (made.files, desk.files) == ((), ["qa.json"])


@pytest.mark.parametrize(
    ("to", "output", "told"),
    [
        ("legal_eval", "out.json", "legal_eval is written to .jsonl"),
        ("eval_cases", "out.txt", "eval_cases is written to .yaml or .yml or .jsonl"),
        ("legal_evil", "out.jsonl", r"`to` legal_evil: .+did you mean 'legal_eval'"),
        ("judge", "out.yaml", "`to` judge: there is no such form"),
    ],
)
def test_a_form_that_there_is_not_is_a_usage_error(
    desk: Desk, to: str, output: str, told: str
) -> None:
    desk.write("qa.json", DOCUMENT)

    with pytest.raises(RequestError, match=told):
        desk.convert("qa.json", to, output)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"made_from": "prbanch"}, "did you mean 'prbench'"),
        ({"names": {"id": "x"}}, "`names` is for tables; name one with `made_from`"),
        ({"split": "test"}, "`split` is for tables"),
        ({"made_from": "prbench", "names": {"id": "x"}}, "the fields of prbench are known"),
        (
            {"made_from": "openai-evals", "names": {"x": "y"}},
            "`names` x=…: openai-evals can fill id",
        ),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(
    desk: Desk, options: dict[str, object], told: str
) -> None:
    desk.write("qa.json", DOCUMENT)

    with pytest.raises(RequestError, match=told):
        desk.convert("qa.json", "legal_eval", "out.jsonl", **options)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "a.jsonl",
            '{"id": "a", "expected_outcome": "x", "input": "y"}\n{\n',
            "Line 2: Invalid JSON",
        ),
        ("a.json", '{"name": "other"}', "keys belong to no contract.+; `made_from` names another"),
        ("a.csv", "a,b\n", "table with the columns 'a', 'b'.+; `made_from` names another"),
        ("a.json", "{", "invalid JSON"),
        ("a.json", '{"records": []}', "missing dataset_id"),
        ("a.yaml", "checks: []\n", "a check_rubric file has no cases to convert"),
    ],
)
def test_a_file_that_is_no_dataset_is_unreadable(
    desk: Desk, name: str, content: str, told: str
) -> None:
    desk.write(name, content)

    with pytest.raises(UnreadableFileError, match=told):
        desk.convert(name, "legal_eval", "out.jsonl")
    assert desk.files == [name]


def test_a_broken_sidecar_makes_the_rows_unreadable(desk: Desk) -> None:
    desk.write_rows("a.jsonl", {"id": "a", "expected_outcome": "x", "input": "y"})
    desk.write("a.yaml", "dataset: [\n")

    with pytest.raises(UnreadableFileError, match="invalid YAML"):
        desk.convert("a.jsonl", "legal_eval", "out.jsonl")


def test_a_missing_source_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match="no such file"):
        desk.convert("missing.json", "legal_eval", "out.jsonl")


@pytest.mark.trials
def test_more_records_than_a_document_may_have_are_refused(desk: Desk) -> None:
    desk.write("t.csv", "id,prompt\n" + "".join(f"{number},Q\n" for number in range(50_001)))

    with pytest.raises(RequestError, match="dataset_document cannot hold this: records"):
        desk.convert("t.csv", "dataset_document", "out.json", made_from="csv")


# Flattening


def test_flatten_puts_a_conversation_into_one_prompt(desk: Desk) -> None:
    desk.write(
        "in.yaml",
        "tests:\n  - id: a\n    expected_output: Hi\n    input:\n"
        "      - {role: system, content: Be kind}\n      - {role: user, content: Hello}\n",
    )
    plain = desk.convert("in.yaml", "dataset_document", "plain.json")
    flat = desk.convert("in.yaml", "dataset_document", "flat.json", flatten=True)

    assert (plain.emitted, flat.emitted) == (0, 1)
    assert desk.read("flat.json").cases[0].input_messages[0].text == (
        "@[System]:\nBe kind\n\n@[User]:\nHello"
    )


def test_flatten_shows_context_choices_and_documents_as_the_policy_does(desk: Desk) -> None:
    desk.write_rows("raw.jsonl", benchmark_rows.lar_echr())
    desk.write_rows("apex.jsonl", benchmark_rows.apexv1())
    desk.convert("raw.jsonl", "question_set", "echr.yaml", made_from="lar_echr", flatten=True)
    apex = desk.convert(
        "apex.jsonl", "question_set", "apex.yaml", made_from="apexv1", flatten=True
    )
    text = desk.read("echr.yaml").cases[0].input_messages[0].text

    assert "A was detained." in text
    assert "C. It follows that C." in text
    (answer,) = desk.read("echr.yaml").cases[0].answers
    assert answer in text
    assert fields(apex)["attachments"] == "lost"


# Imports


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("prbench", benchmark_rows.prbench),
        ("includebase", benchmark_rows.includebase),
        ("lar_echr", benchmark_rows.lar_echr),
    ],
)
def test_a_benchmark_gives_the_same_ids_in_any_order(
    desk: Desk, name: str, make: Callable[[str], JsonObject]
) -> None:
    records: list[JsonValue] = [make(f"x{number}") for number in range(8)]
    desk.write_rows("a.jsonl", *records)
    Random(2).shuffle(records)
    desk.write("b.json", records)
    first = desk.convert("a.jsonl", "legal_eval", "a-out.jsonl", made_from=name)
    desk.convert("b.json", "legal_eval", "b-out.jsonl", made_from=name)

    assert counts(first) == (8, 8, 0, 0, 0)
    assert sorted(map(str, desk.rows("a-out.jsonl"))) == sorted(map(str, desk.rows("b-out.jsonl")))


def test_rows_read_emitted_invalid_and_skipped_are_told_apart(desk: Desk) -> None:
    row = benchmark_rows.prbench
    lines = [row("a"), row("a"), row("a", topic="Other"), row("b", rubric=[]), row("c")]
    text = "".join(json.dumps(line) + "\n" for line in lines) + "{broken\n\n7\n"
    desk.write("raw.jsonl", text)
    made = desk.convert("raw.jsonl", "legal_eval", "out.jsonl", made_from="prbench")
    told = {rows.reason: (rows.outcome, rows.first) for rows in made.unwritten}

    assert counts(made) == (7, 2, 4, 1, 0)
    assert told["the same row again"] == ("skipped", ("line 2",))
    assert told["id 'prbench:a' is used by an earlier row with other content"] == (
        "invalid",
        ("line 3",),
    )
    assert told["must be an object"] == ("invalid", ("line 8",))
    assert [row["id"] for row in desk.rows("out.jsonl")] == ["prbench:a", "prbench:c"]


def test_a_row_that_the_importer_passes_and_the_reader_refuses_is_invalid(desk: Desk) -> None:
    twice: list[JsonValue] = [benchmark_rows.criterion("a"), benchmark_rows.criterion("a")]
    rows = [benchmark_rows.prbench("x", rubric=twice), benchmark_rows.prbench("y")]
    desk.write_rows("raw.jsonl", *rows)
    made = desk.convert("raw.jsonl", "legal_eval", "out.jsonl", made_from="prbench")

    assert counts(made) == (2, 1, 1, 0, 0)
    assert "is used by an earlier criterion" in made.unwritten[0].reason
    assert [row["id"] for row in desk.rows("out.jsonl")] == ["prbench:y"]


def test_a_benchmark_goes_to_other_contracts_through_its_own(desk: Desk) -> None:
    rows = [benchmark_rows.lexam_open("a"), benchmark_rows.lexam_open("b", question=" ")]
    desk.write_rows("raw.jsonl", *rows)
    made = desk.convert("raw.jsonl", "eval_cases", "out.yaml", made_from="lexam")
    (case,) = desk.read("out.yaml").cases

    assert counts(made) == (2, 1, 1, 0, 0)
    assert (made.made_from, case.id, case.answers) == (
        "lexam",
        "lexam:open:a",
        ("Yes, under Art. 20.",),
    )


@pytest.mark.parametrize("to", DATASETS)
def test_a_table_goes_to_any_contract(desk: Desk, to: str) -> None:
    names = {
        "legal_eval": {"id": "key", "prompt": "q", "reference_answers": "a"},
        "dataset_document": {"id": "key", "prompt": "q", "answer": "a"},
        "question_set": {"id": "key", "input": "q", "expected": "a"},
        "eval_cases": {"id": "key", "input": "q", "expected_output": "a"},
        "evals_json": {"id": "key", "prompt": "q", "expected_output": "a"},
    }
    desk.write("t.csv", "\ufeffkey,q,a,topic\r\n1,Why?,So.,x\r\n1,Other?,So.,x\r\n2,,So.,y\r\n")
    name = f"out{EXTENSIONS[to]}"
    made = desk.convert("t.csv", to, name, made_from="csv", names=names[to])
    (case,) = desk.read(name).cases

    assert counts(made) == (3, 1, 2, 0, 0)
    assert known(case) == ("1", "Why?", ("So.",))
    assert fields(made) == {"topic": "moved"}


def test_a_dataset_is_called_after_its_table_as_the_contract_allows(desk: Desk) -> None:
    desk.write("my data.csv", "id,prompt\na,Q\n")
    made = desk.convert("my data.csv", "dataset_document", "out.json", made_from="csv")

    assert desk.read("out.json").id == "my_data"
    assert fields(made) == {"dataset id": "moved"}


def test_rows_of_a_table_are_read_in_batches(desk: Desk) -> None:
    lines = "".join(f"k{number},Why {number}?,So.\n" for number in range(1201))
    desk.write("t.csv", f"id,input,expected\n{lines}")
    made = desk.convert("t.csv", "question_set", "out.json", made_from="csv")

    assert counts(made) == (1201, 1201, 0, 0, 0)
    assert [case.id for case in desk.read("out.json").cases][-1] == "k1200"


def test_a_promptfoo_file_becomes_eval_cases_and_a_project_file(desk: Desk) -> None:
    desk.write(
        "promptfooconfig.yaml",
        "description: Greetings\nproviders: [echo]\nprompts: ['Hi {{name}}', 'file://x.py']\n"
        "tests:\n"
        "  - vars: {name: Ann}\n    assert: [{type: icontains, value: ann}]\n"
        "  - vars: {name: Bob}\n    assert: [{type: javascript, value: '1'}]\n",
    )
    made = desk.convert("promptfooconfig.yaml", "eval_cases", "out.yaml", made_from="promptfoo")
    first, second = desk.read("out.yaml").cases

    assert counts(made) == (2, 2, 0, 0, 0)
    assert first.evaluators[0].type == "icontains"
    assert (second.evaluators, second.evaluator) == ((), "none")
    assert desk.read("out.yaml").description == "Greetings"
    assert set(fields(made)) == {
        "promptfooconfig.yaml: prompts[1]",
        "promptfooconfig.yaml: tests[1].assert[0] (javascript)",
        "grading",
    }
    assert "provider: echo" in (desk.folder / "steelyard.yaml").read_text(encoding="utf-8")


def test_an_existing_project_file_keeps_what_it_says(desk: Desk) -> None:
    tests = "tests: [{assert: [{type: contains, value: Hi}]}]"
    desk.write("p.yaml", f"prompts: [Hi]\nproviders: [echo]\n{tests}\n")
    project = desk.folder / "steelyard.yaml"
    project.write_text("# ours\nallow: {commands: true}\n", encoding="utf-8")
    added = desk.convert("p.yaml", "eval_cases", "out.yaml", made_from="promptfoo")
    text = project.read_text(encoding="utf-8")
    project.write_text("targets: {mine: {provider: echo}}\n", encoding="utf-8")
    kept = desk.convert("p.yaml", "eval_cases", "other.yaml", made_from="promptfoo")

    assert text.startswith("# ours\nallow: {commands: true}\n")
    assert "targets:\n  echo:\n    provider: echo\n" in text
    assert added.fields == ()
    assert fields(kept) == {"targets.echo": "lost"}
    assert project.read_text(encoding="utf-8") == "targets: {mine: {provider: echo}}\n"


def test_a_promptfoo_file_may_be_json_and_go_on_to_another_contract(desk: Desk) -> None:
    assertion: JsonObject = {"type": "icontains", "value": "ann"}
    desk.write("p.json", {"prompts": "Hi Ann", "tests": [{"assert": [assertion]}]})
    desk.convert("p.json", "evals_json", "out.json", made_from="promptfoo")
    (case,) = desk.read("out.json").cases

    assert case.evaluators[0].settings["phrases"] == ["ann"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("description: a\n", "there is no 'prompts'"),
        ("a: [\n", r"p\.yaml:1: "),
        ("7\n", "the top level must be an object"),
    ],
)
def test_a_file_that_is_no_promptfoo_configuration_is_unreadable(
    desk: Desk, content: str, told: str
) -> None:
    desk.write("p.yaml", content)

    with pytest.raises(UnreadableFileError, match=told):
        desk.convert("p.yaml", "eval_cases", "out.yaml", made_from="promptfoo")


def test_a_configuration_beyond_the_limit_is_unreadable(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.usecases.convert.promptfoo.intake._MAX_CONFIG", 5)
    desk.write("p.yaml", "prompts: []\n")

    with pytest.raises(UnreadableFileError, match="larger than 64 MB"):
        desk.convert("p.yaml", "eval_cases", "out.yaml", made_from="promptfoo")


def test_a_missing_promptfoo_configuration_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFoundError, match="name a promptfoo configuration"):
        desk.convert("p.yaml", "eval_cases", "out.yaml", made_from="promptfoo")


def test_an_export_of_openai_evals_becomes_eval_cases(desk: Desk) -> None:
    item: JsonObject = {"question": "2 + 2?", "ideal": "4"}
    runs: list[JsonValue] = [
        {"run_id": run, "item": item, "grades": {"g": 1}} for run in ("r1", "r2")
    ]
    desk.write_rows("items.jsonl", *runs, {"spec": {}}, {"item": {"x": 1}})
    made = desk.convert("items.jsonl", "eval_cases", "out.yaml", made_from="openai-evals")
    (case,) = desk.read("out.yaml").cases

    assert counts(made) == (4, 1, 1, 2, 0)
    assert known(case)[1:] == ("2 + 2?", ("4",))
    assert fields(made) == {"graders": "lost"}


@pytest.mark.parametrize("name", sources(CONTRACTS))
def test_the_page_names_every_source(name: str) -> None:
    assert f"`{name}`" in PAGE.replace("`--from ", "`")


@pytest.mark.parametrize("contract", FIELDS)
def test_the_page_names_every_field_that_a_column_can_fill(contract: str) -> None:
    table = PAGE.partition("fields that a column can fill")[2]
    line = next(line for line in table.splitlines() if line.startswith(f"| `{contract}`"))

    assert [field for field in FIELDS[contract] if f"`{field}`" not in line] == []


# There and back


@pytest.fixture(scope="module")
def scratch() -> Iterator[Desk]:
    with TemporaryDirectory() as folder:
        yield Desk(Path(folder).resolve())


def there_and_back(
    desk: Desk, data: bytes, name: str, way: tuple[str, str]
) -> tuple[Dataset, Dataset]:
    """A dataset, and what came back of the part of it that came over."""
    there, back = (f"{contract}{EXTENSIONS[contract]}" for contract in way)
    (desk.folder / name).write_bytes(data)
    is_there = desk.convert(name, way[0], there, force=True).emitted
    is_back = is_there and desk.convert(there, way[1], back, force=True).emitted
    nothing = Dataset(id="", contract=way[1])
    return desk.read(name), desk.read(back) if is_back else nothing


FEW = settings(max_examples=examples(30))


@FEW
@given(dataset_documents.DOCUMENTS)
def test_documents_come_back_from_question_sets_with_all_that_both_know(
    scratch: Desk, document: JsonObject
) -> None:
    data = json.dumps(document).encode()
    before, after = there_and_back(scratch, data, "x.json", ("question_set", "dataset_document"))
    asked = {case.id: case for case in before.cases}

    for case in after.cases:
        was = asked[case.id]
        assert case.input_messages == was.input_messages
        assert case.reference_answers == was.reference_answers
        assert case.expected == was.expected
        assert was.metadata.items() <= case.metadata.items()


@FEW
@given(dataset_documents.DOCUMENTS)
def test_documents_come_back_from_eval_cases_with_all_that_both_know(
    scratch: Desk, document: JsonObject
) -> None:
    data = json.dumps(document).encode()
    before, after = there_and_back(scratch, data, "x.json", ("eval_cases", "dataset_document"))
    asked = {case.id: case for case in before.cases}

    for case in after.cases:
        was = asked[case.id]
        assert (case.input_messages, case.tags) == (was.input_messages, was.tags)
        assert case.reference_answers == tuple(filter(None, was.reference_answers))
        assert was.metadata.items() <= case.metadata.items()


@FEW
@given(eval_cases.datasets())
def test_any_eval_cases_are_written_or_left_out_with_a_reason(
    scratch: Desk, dataset: Dataset
) -> None:
    (scratch.folder / "any.yaml").write_bytes(write_eval_cases_yaml(dataset))

    for to in ("legal_eval", "dataset_document", "question_set", "evals_json"):
        made = scratch.convert("any.yaml", to, f"any-{to}{EXTENSIONS[to]}", force=True)
        assert counts(made)[0] == len(dataset.cases)
        if made.emitted:
            assert len(scratch.read(f"any-{to}{EXTENSIONS[to]}").cases) == made.emitted


def test_a_document_written_by_hand_is_the_one_that_conversion_writes(desk: Desk) -> None:
    desk.write("qa.json", DOCUMENT)
    desk.convert("qa.json", "dataset_document", "out.json")

    assert (desk.folder / "out.json").read_bytes() == write_dataset_document(desk.read("qa.json"))
