"""How fast `steelyard validate` and `steelyard --help` are, and how much memory they take."""

from __future__ import annotations

import compileall
import sys
import time
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from bench.child import ROOT, STEELYARD, Cost, medians
from bench.data import (
    ROWS,
    cases,
    check_rubric,
    document,
    evals,
    judges,
    legal_rows,
    one_record,
    question_rubric,
    question_set,
)

from steelyard.contracts.question_rubric.answers import read_answers
from steelyard.contracts.question_rubric.reader import read_question_rubric
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue

TIMES = 5
HELP_TIMES = 20
QUESTIONS = 10_000
ANSWER_SETS = 5_000
ASKED = 50_000
EVALS = 50_000
CHECKS = 5_000
JUDGES = 500
_PARSE = "import sys, {0}; {0}.{1}(open(sys.argv[1], 'rb').read())"
_IMPORT = "import sys, {0}"
_PARSE_LINES = (
    "import sys, msgspec\ndecode = msgspec.json.Decoder().decode\n"
    "for line in open(sys.argv[1], 'rb'): decode(line)"
)


class Result(NamedTuple):
    """One row of the table."""

    what: str
    measured: str
    goal: str
    first_bar: str


def results() -> Iterator[Result]:
    """Every measurement, in the order of the table."""
    yield from document_results()
    yield from rows_results()
    yield from legal_results()
    yield from question_rubric_results()
    yield from question_set_results()
    yield from evals_results()
    yield from definition_results()
    yield from help_results()


def document_results() -> Iterator[Result]:
    """The large document against a bare parse of the same bytes."""
    path, python = document(), sys.executable
    cost = medians(
        {
            "validate": (*STEELYARD, "validate", path),
            "start": (*STEELYARD, "validate", one_record()),
            "msgspec": (python, "-c", _PARSE.format("msgspec", "json.decode"), path),
            "msgspec start": (python, "-c", _IMPORT.format("msgspec")),
            "json": (python, "-c", _PARSE.format("json", "loads"), path),
            "json start": (python, "-c", _IMPORT.format("json")),
        },
        TIMES,
    )
    taken = cost["validate"].cpu_s - cost["start"].cpu_s
    msgspec = cost["msgspec"].cpu_s - cost["msgspec start"].cpu_s
    json = cost["json"].cpu_s - cost["json start"].cpu_s
    size = path.stat().st_size
    name = f"{size / 1e6:.0f} MB document, 50,000 records"
    yield Result(
        f"validate a {name}: CPU against `msgspec.json.decode`",
        f"**{taken / msgspec:.2f} ×** ({taken:.2f} s to {msgspec:.2f} s)",
        "≤ 1.6 ×",
        "≤ 2.5 ×",
    )
    yield Result(
        "the same against `json.loads`",
        f"{taken / json:.2f} × ({taken:.2f} s to {json:.2f} s)",
        "–",
        "–",
    )
    yield Result(
        "the same: peak memory against the file",
        f"**{cost['validate'].peak_bytes / size:.2f} ×** "
        f"({_mb(cost['validate'])}; `msgspec` {_mb(cost['msgspec'])}, `json` {_mb(cost['json'])})",
        "≤ 1.5 ×",
        "≤ 2.5 ×",
    )


def rows_results() -> Iterator[Result]:
    """A long JSONL file, and one half as long."""
    half, whole = cases(ROWS // 2), cases(ROWS)
    cost = medians(
        {
            "whole": (*STEELYARD, "validate", whole),
            "half": (*STEELYARD, "validate", half),
            "start": (*STEELYARD, "validate", cases(1)),
        },
        TIMES,
    )
    speed = ROWS / (cost["whole"].cpu_s - cost["start"].cpu_s)
    grown = (cost["whole"].peak_bytes - cost["half"].peak_bytes) / (ROWS // 2)
    yield Result(
        f"validate {ROWS:,} JSONL rows of {whole.stat().st_size // ROWS} bytes: rows a CPU second",
        f"**{speed:,.0f}**",
        "≥ 250,000",
        "≥ 100,000",
    )
    yield Result(
        f"the same: peak memory at {ROWS // 2:,} and {ROWS:,} rows",
        f"{_mb(cost['half'])} and {_mb(cost['whole'])}: **{max(0.0, grown):.0f} bytes a row**",
        "≤ 16 bytes a row",
        "–",
    )


def legal_results() -> Iterator[Result]:
    """A long file of legal evaluation rows beside a bare parse of its lines."""
    half, whole = legal_rows(ROWS // 2), legal_rows(ROWS)
    cost = medians(
        {
            "whole": (*STEELYARD, "validate", whole),
            "half": (*STEELYARD, "validate", half),
            "start": (*STEELYARD, "validate", legal_rows(1)),
            "msgspec": (sys.executable, "-c", _PARSE_LINES, whole),
            "msgspec start": (sys.executable, "-c", _IMPORT.format("msgspec")),
        },
        TIMES,
    )
    taken = cost["whole"].cpu_s - cost["start"].cpu_s
    msgspec = cost["msgspec"].cpu_s - cost["msgspec start"].cpu_s
    grown = (cost["whole"].peak_bytes - cost["half"].peak_bytes) / (ROWS // 2)
    size = whole.stat().st_size // ROWS
    yield Result(
        f"validate {ROWS:,} legal_eval rows of {size} bytes: rows a CPU second",
        f"**{ROWS / taken:,.0f}** ({taken / msgspec:.2f} × a bare `msgspec` parse of the lines)",
        "–",
        "≥ 100,000",
    )
    yield Result(
        f"the same: peak memory at {ROWS // 2:,} and {ROWS:,} rows",
        f"{_mb(cost['half'])} and {_mb(cost['whole'])}: **{max(0.0, grown):.0f} bytes a row**",
        "≤ 16 bytes a row",
        "–",
    )


def question_rubric_results() -> Iterator[Result]:
    """A rubric far larger than people write, and answers to one of the usual size."""
    path = question_rubric(QUESTIONS)
    cost = medians(
        {
            "whole": (*STEELYARD, "validate", path),
            "start": (*STEELYARD, "validate", question_rubric(1)),
        },
        TIMES,
    )
    taken = cost["whole"].cpu_s - cost["start"].cpu_s
    yield Result(
        f"validate a rubric of {QUESTIONS:,} questions, {path.stat().st_size / 1e6:.1f} MB: CPU",
        f"**{taken:.2f} s** ({QUESTIONS / taken:,.0f} questions a second)",
        "–",
        "–",
    )
    yield Result(
        "check answers against a rubric, 36 answers over 4 turns: sets a CPU second",
        f"**{median(_answer_speed() for _ in range(TIMES)):,.0f}**",
        "–",
        "–",
    )


def question_set_results() -> Iterator[Result]:
    """Question sets in both formats, every question with a reference that is looked up."""
    wanted = {"json": ASKED, "yaml": ASKED // 10}
    for ending, count in wanted.items():
        path = question_set(count, ending)
        cost = medians(
            {
                "whole": (*STEELYARD, "validate", path),
                "start": (*STEELYARD, "validate", question_set(1, ending)),
            },
            TIMES,
        )
        taken = cost["whole"].cpu_s - cost["start"].cpu_s
        size = path.stat().st_size / 1e6
        yield Result(
            f"validate {count:,} questions with their rubric, {size:.0f} MB of "
            f"{ending.upper()}: questions a CPU second",
            f"**{count / taken:,.0f}** ({_mb(cost['whole'])} at most)",
            "–",
            "–",
        )


def evals_results() -> Iterator[Result]:
    """An evals file, every case with its checks, beside a bare parse of the same bytes."""
    path, python = evals(EVALS), sys.executable
    cost = medians(
        {
            "whole": (*STEELYARD, "validate", path),
            "start": (*STEELYARD, "validate", evals(1)),
            "msgspec": (python, "-c", _PARSE.format("msgspec", "json.decode"), path),
            "msgspec start": (python, "-c", _IMPORT.format("msgspec")),
        },
        TIMES,
    )
    taken = cost["whole"].cpu_s - cost["start"].cpu_s
    msgspec = cost["msgspec"].cpu_s - cost["msgspec start"].cpu_s
    yield Result(
        f"validate {EVALS:,} evals with their checks, {path.stat().st_size / 1e6:.0f} MB: evals "
        "a CPU second",
        f"**{EVALS / taken:,.0f}** ({taken / msgspec:.2f} × a bare `msgspec` parse; "
        f"{_mb(cost['whole'])} at most)",
        "–",
        "–",
    )


def definition_results() -> Iterator[Result]:
    """A check rubric far larger than people write, and as many judges as a large team has."""
    wanted = {
        f"a check rubric of {CHECKS:,} checks in YAML: checks a CPU second": (
            CHECKS,
            check_rubric(CHECKS),
            check_rubric(1),
        ),
        f"{JUDGES} judges in YAML: files a CPU second": (JUDGES, judges(JUDGES), judges(1)),
    }
    for what, (count, whole, one) in wanted.items():
        cost = medians(
            {"whole": (*STEELYARD, "validate", whole), "start": (*STEELYARD, "validate", one)},
            TIMES,
        )
        taken = cost["whole"].cpu_s - cost["start"].cpu_s
        yield Result(
            f"validate {what}",
            f"**{count / taken:,.0f}** ({taken:.2f} s, {_mb(cost['whole'])} at most)",
            "–",
            "–",
        )


def _answer_speed() -> float:
    """How many sets of answers are checked in a second of CPU."""
    content = parse_yaml(question_rubric(12).read_bytes())
    rubric, _ = read_question_rubric(content)
    assert rubric
    chosen: dict[str, JsonValue] = {
        "score": 4,
        "multi_select": ["option_3", "option_1"],
        "yes_no": 1,
        "comment": "The answer names the price but not the branch.",
    }
    asked = {
        scope: {key: chosen.get(one.type, "option_2") for key, one in rubric.asked(scope).items()}
        for scope in ("trace", "turn")
    }
    turns: JsonObject = {f"turn_{number}": asked["turn"] for number in range(1, 5)}
    answers: JsonObject = {"trace": asked["trace"], "turns": turns}
    begin = time.process_time()
    for _ in range(ANSWER_SETS):
        _, findings = read_answers(answers, rubric, turns=4)
        assert findings == []
    return ANSWER_SETS / (time.process_time() - begin)


def help_results() -> Iterator[Result]:
    """How long a user waits for the first line."""
    compileall.compile_dir(str(ROOT / "src"), quiet=1)
    cost = medians(
        {"help": (*STEELYARD, "--help"), "python": (sys.executable, "-c", "pass")}, HELP_TIMES
    )
    yield Result(
        "`steelyard --help`, whole process",
        f"**{cost['help'].wall_s:.3f} s** (`python -c pass` {cost['python'].wall_s:.3f} s)",
        "≤ 0.12 s",
        "≤ 0.2 s",
    )


def _mb(cost: Cost) -> str:
    return f"{cost.peak_bytes / 1e6:.0f} MB"
