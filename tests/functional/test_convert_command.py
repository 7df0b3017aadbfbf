"""`steelyard convert`, started as a user starts it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, cast

import pytest

from fakes.benchmark_rows import lexam_mcq, lexam_open, prbench
from fakes.conversions import Desk
from steelyard.model.json_value import JsonValue

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.write_rows("lexam.jsonl", lexam_open("a"), lexam_mcq("b"))
    desk.write_rows("prbench.jsonl", prbench("a"), prbench("a"))
    desk.write("t.csv", "qid,question,answer\n1,Why?,So.\n2,,So.\n")
    return desk


def test_a_benchmark_is_converted_and_the_report_goes_to_stderr(
    steelyard: Steelyard, desk: Desk
) -> None:
    done = steelyard(
        *("convert", "lexam.jsonl", "--from", "lexam", "--to", "legal_eval", "-o", "out.jsonl"),
        cwd=desk.folder,
    )
    checked = steelyard("validate", "out.jsonl", cwd=desk.folder)

    assert (done.returncode, done.stdout, checked.returncode) == (0, "", 0)
    assert done.stderr == (
        "lexam.jsonl (lexam) to legal_eval: out.jsonl\n"
        "  2 read = 2 written + 0 invalid + 0 skipped + 0 left out\n"
    )


@pytest.mark.parametrize("to", ["dataset_document", "question_set", "evals_json"])
def test_a_question_without_its_choices_is_left_out_or_flattened(
    steelyard: Steelyard, desk: Desk, to: str
) -> None:
    words = ("convert", "lexam.jsonl", "--from", "lexam", "--to", to, "--output")
    plain = steelyard(*words, "out.json", cwd=desk.folder)
    flat = steelyard(*words, "flat.json", "--flatten", cwd=desk.folder)

    assert (plain.returncode, flat.returncode) == (1, 0)
    told = f"lexam:mcq:b:3: the question needs its choices, and {to} has one prompt alone"
    assert told in plain.stderr
    assert "  moved     choices (1 case: lexam:mcq:b:3): stand in the prompt\n" in flat.stderr
    assert "\\nA. " in (desk.folder / "flat.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("source", "to", "said"),
    [
        (("lexam.jsonl", "--from", "lexam"), "question_set", "flatten"),
        (
            ("t.csv", "--from", "csv", "--map", "input=q"),
            "question_set",
            "no column 'q' to map to",
        ),
        (("t.csv", "--from", "csv", "--map", "x=q"), "question_set", "--map x=q: "),
        (("lexam.jsonl", "--from", "lexma"), "eval_cases", "--from lexma: "),
    ],
)
def test_no_mark_of_an_argument_is_left_in_what_a_conversion_writes(
    steelyard: Steelyard, desk: Desk, source: tuple[str, ...], to: str, said: str
) -> None:
    words = ("convert", *source, "--to", to, "-o", "out.json")
    text = steelyard(*words, cwd=desk.folder)
    report = steelyard(*words, "--force", "--format", "json", cwd=desk.folder)
    written = "".join(path.read_text(encoding="utf-8") for path in desk.folder.glob("out.*"))
    told = f"{text.stdout}{text.stderr}{report.stdout}{report.stderr}"

    assert told.count(said) == 2
    assert ("--flatten puts all" in text.stderr) == ("`flatten` puts all" in report.stdout)
    # Neither as it is, nor as JSON escapes it, nor as it would be printed.
    assert not re.search(r"[\ufdd0\ufdd1·]|\\ufdd", told + written)


def test_lost_fields_are_warnings_and_exit_with_0(steelyard: Steelyard, desk: Desk) -> None:
    words = ("convert", "prbench.jsonl", "--from", "prbench", "--to", "dataset_document")
    done = steelyard(*words, "--output", "out.json", "--flatten", cwd=desk.folder)

    assert done.returncode == 0
    assert "  lost      criteria (1 case: prbench:" in done.stderr


def test_a_repeated_row_is_skipped_and_exits_with_0(steelyard: Steelyard, desk: Desk) -> None:
    words = ("convert", "prbench.jsonl", "--from", "prbench", "--to", "legal_eval")
    done = steelyard(*words, "-o", "out.jsonl", "--format", "json", cwd=desk.folder)
    report = json.loads(done.stdout)

    assert (done.returncode, done.stderr) == (0, "")
    assert report["rows"] == {
        "read": 2,
        "emitted": 1,
        "invalid": 0,
        "skipped": 1,
        "left_out": 0,
    }


def test_a_row_that_is_not_written_exits_with_1(steelyard: Steelyard, desk: Desk) -> None:
    words = ("convert", "t.csv", "--from", "csv", "--to", "question_set", "-o", "-")
    names = ("--map", "id=qid", "--map", "input=question", "--map", "expected=answer")
    done = steelyard(*words, *names, cwd=desk.folder)

    assert done.returncode == 1
    assert done.stdout == 'questions:\n- id: "1"\n  input: Why?\n  expected: So.\n'
    assert "invalid   1 row: 2: missing input" in done.stderr


def test_nothing_to_write_exits_with_2(steelyard: Steelyard, desk: Desk) -> None:
    words = ("convert", "t.csv", "--from", "csv", "--to", "legal_eval", "-o", "out.jsonl")
    done = steelyard(*words, cwd=desk.folder)

    assert done.returncode == 2
    assert done.stderr.endswith("steelyard: nothing was written: no case could be converted\n")
    assert not (desk.folder / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "legal_eval", "-o", "t.csv"), "legal_eval is written to .jsonl"),
        (("--to", "nothing", "-o", "x.json"), "--to nothing: there is no such form"),
        (
            ("--to", "legal_eval", "-o", "lexam.jsonl"),
            "lexam.jsonl exists; --force writes over it",
        ),
        (
            ("--to", "legal_eval", "-o", "-", "--format", "json"),
            "--format json prints the report on stdout; name a file with -o",
        ),
        (
            ("--to", "legal_eval", "-o", "x.jsonl", "--map", "a"),
            "--map a: write FIELD=COLUMN, such as input=question",
        ),
        (
            ("--to", "legal_eval", "-o", "x.jsonl", "--map", "a=b", "--map", "a=c"),
            "--map a=c: 'a' is filled by 'b' already",
        ),
        (("--to", "legal_eval", "-o", "no/such/../x.txt"), "is written to .jsonl"),
    ],
)
def test_wrong_usage_is_one_line_and_exits_with_2(
    steelyard: Steelyard, desk: Desk, words: tuple[str, ...], told: str
) -> None:
    done = steelyard("convert", "lexam.jsonl", "--from", "lexam", *words, cwd=desk.folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_goes_away_is_no_error(desk: Desk) -> None:
    desk.write_rows("many.jsonl", *(lexam_open(f"q{n}") for n in range(5000)))
    command = (
        "python -m steelyard convert many.jsonl --from lexam --to legal_eval -o - "
        "2>err | head -1 >first; exit ${PIPESTATUS[0]}"
    )
    started = command.replace("python", sys.executable, 1)
    done = subprocess.run(["bash", "-c", started], cwd=desk.folder, check=False)

    assert done.returncode == 0
    assert json.loads((desk.folder / "first").read_text(encoding="utf-8"))["id"] == "lexam:open:q0"


IMAGE: JsonValue = {
    "type": "image_url",
    "image_url": {"url": "https://x.example/cat.png"},
}
ITEMS: tuple[JsonValue, ...] = (
    {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "What?"}, IMAGE]}],
        "ideal": "a cat",
    },
    {"item": {"question": "Which?", "choices": ["x", "y"], "answer": "x"}},
    {"input": "2+2?", "ideal": ["4", "four"]},
)


def test_images_choices_and_several_answers_come_over_or_are_left_out(
    steelyard: Steelyard, desk: Desk
) -> None:
    desk.write_rows("items.jsonl", *ITEMS)
    words = ("convert", "items.jsonl", "--from", "openai-evals", "--to")
    cases = steelyard(*words, "eval_cases", "-o", "cases.yaml", cwd=desk.folder)
    legal = steelyard(*words, "legal_eval", "-o", "legal.jsonl", cwd=desk.folder)
    exam, sum_ = desk.rows("legal.jsonl")

    assert (cases.returncode, legal.returncode) == (1, 1)
    assert "cat.png" in (desk.folder / "cases.yaml").read_text(encoding="utf-8")
    assert "line 2: its choices have no place in a case of this contract" in cases.stderr
    assert "line 1: images, tools and other parts have no place in legal_eval" in legal.stderr
    assert (exam["task_type"], exam["correct_choice_ids"]) == ("mcq", ["A"])
    assert sum_["reference_answers"] == ["4", "four"]


@pytest.mark.parametrize("to", ["dataset_document", "question_set", "evals_json"])
@pytest.mark.parametrize("flatten", [(), ("--flatten",)])
def test_a_question_without_its_image_is_left_out(
    steelyard: Steelyard, desk: Desk, to: str, flatten: tuple[str, ...]
) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "value": "look"}, IMAGE]}]
    tests: list[JsonValue] = [
        {"id": "img", "input": cast(JsonValue, asked), "criteria": "c"},
        {"id": "plain", "input": "hi", "criteria": "c"},
    ]
    desk.write("ec.yaml", json.dumps({"tests": tests}))
    done = steelyard("convert", "ec.yaml", "--to", to, "-o", "out.json", *flatten, cwd=desk.folder)

    assert done.returncode == 1
    assert f"img: the question holds an image, and {to} asks with text alone" in done.stderr
    assert "look" not in (desk.folder / "out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("to", ["eval_cases", "dataset_document", "question_set", "evals_json"])
def test_a_table_with_choices_goes_to_no_contract_without_them(
    steelyard: Steelyard, desk: Desk, to: str
) -> None:
    desk.write(
        "t.csv", 'id,input,choices\n1,Which?,"[""x"", ""y""]"\n2,x or y?,"[""x"", ""y""]"\n'
    )
    prompt = ("--map", "prompt=input") if to == "evals_json" else ()
    words = ("convert", "t.csv", "--from", "csv", "--to", to, *prompt, "--format", "json")
    output = "out.yaml" if to == "eval_cases" else "out.json"
    done = steelyard(*words, "-o", output, cwd=desk.folder)

    assert "its choices have no place in a case of this contract" in done.stdout
    left_out = [one["first"] for one in json.loads(done.stdout)["unwritten"]]
    assert ["line 2"] in left_out


CHAT = [
    {"role": "system", "content": "S {{x}}"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "look {{x}}"},
            {"type": "image_url", "image_url": {"url": "{{img}}"}},
        ],
    },
]


def test_promptfoo_keeps_images_and_names_no_other_contract(
    steelyard: Steelyard, desk: Desk
) -> None:
    test: JsonValue = {
        "vars": {"x": "a", "img": "https://x.example/p.png"},
        "assert": [{"type": "contains", "value": "p"}],
    }
    desk.write("p.json", {"prompts": [json.dumps(CHAT)], "providers": ["echo"], "tests": [test]})
    words = ("convert", "p.json", "--from", "promptfoo", "--to")
    cases = steelyard(*words, "eval_cases", "-o", "out.yaml", cwd=desk.folder)
    document = steelyard(*words, "dataset_document", "-o", "out.json", cwd=desk.folder)
    written = (desk.folder / "out.yaml").read_text(encoding="utf-8")

    assert (cases.returncode, document.returncode) == (0, 2)
    assert "url: https://x.example/p.png" in written
    assert "value: look a" in written
    assert "the question holds an image" in document.stderr
    assert "provider: echo" in (desk.folder / "steelyard.yaml").read_text(encoding="utf-8")
    assert "next      steelyard run out.yaml --target echo\n" in cases.stderr


def test_promptfoo_honours_which_assertions_and_prompts_a_test_takes(
    steelyard: Steelyard, desk: Desk
) -> None:
    config = """
prompts: [{raw: "Say {{x}}", label: say}, {raw: "Shout {{x}}", label: shout}]
defaultTest: {assert: [{type: contains, value: NEVER}]}
tests:
  - {vars: {x: a}, options: {disableDefaultAsserts: true}, assert: [{type: contains, value: A}]}
  - {vars: {x: b}, prompts: [shout]}
  - {vars: {x: c}, prompts: [whisper]}
"""
    desk.write("p.yaml", config)
    words = ("convert", "p.yaml", "--from", "promptfoo", "--to", "eval_cases")
    done = steelyard(*words, "-o", "out.yaml", cwd=desk.folder)
    cases = desk.read("out.yaml").cases

    found = [(case.input_messages[0].text, case.evaluators[0].settings["value"]) for case in cases]
    assert found == [("a", "A"), ("b", "NEVER")]
    assert cases[1].metadata["prompts"] == ["shout"]
    assert "it asks with the prompts whisper, and there is none of them" in done.stderr
    assert "lost" not in done.stderr


def test_a_test_without_assertions_is_ungraded_and_is_skipped_by_a_run(
    steelyard: Steelyard, desk: Desk
) -> None:
    config = """
prompts: ["Say hello to {{ name }}"]
providers: [echo]
tests:
  - {vars: {name: Ann}, assert: [{type: icontains, value: ann}]}
  - {vars: {name: Bob}}
"""
    desk.write("p.yaml", config)
    words = ("convert", "p.yaml", "--from", "promptfoo")
    made = steelyard(*words, "--to", "eval_cases", "-o", "out.yaml", cwd=desk.folder)
    checked = steelyard("validate", "out.yaml", cwd=desk.folder)
    run = steelyard("run", "out.yaml", "--target", "echo", cwd=desk.folder)

    assert "2 written + 0 invalid + 0 skipped + 0 left out" in made.stderr
    assert checked.returncode == 0
    assert run.returncode == 4
    assert "2 = 1 evaluated + 0 failed + 1 skipped" in run.stdout


def test_programs_of_assertions_grade_where_the_project_allows_them(
    steelyard: Steelyard, desk: Desk
) -> None:
    desk.write("steelyard.yaml", "allow: {commands: true}\n")
    desk.write(
        "grade.py", "def get_assert(output, context):\n    return context['vars']['n'] == 2\n"
    )
    config = """
prompts: ["Count to {{n}}"]
providers: [echo]
defaultTest: {assert: [{type: python, value: file://grade.py}]}
tests: [{vars: {n: 2}}, {vars: {n: 3}}]
"""
    desk.write("p.yaml", config)
    words = ("convert", "p.yaml", "--from", "promptfoo", "--to", "eval_cases")
    made = steelyard(*words, "-o", "out.yaml", cwd=desk.folder)
    run = steelyard("run", "out.yaml", "--target", "echo", cwd=desk.folder)

    assert "moved     p.yaml: defaultTest.assert[0] (python)" in made.stderr
    assert "1 of 2 evaluated" in run.stdout or "50.0 %" in run.stdout


def test_validate_recognises_a_promptfoo_file_and_names_the_command(
    steelyard: Steelyard, desk: Desk
) -> None:
    desk.write("p.yaml", "prompts: [Hi]\nproviders: [echo]\ntests: [{vars: {}}]\n")
    done = steelyard("validate", "p.yaml", cwd=desk.folder)

    assert done.returncode == 1
    assert "this is a promptfoo configuration" in done.stdout
    assert "steelyard convert p.yaml --from promptfoo --to eval_cases -o cases.yaml" in done.stdout
