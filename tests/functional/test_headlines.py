"""A failed gate is seen in every form in which a run is shown."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from fakes.claims_project import write_cases, write_responses
from fakes.many_commands import Done, run_many

RUN = ("run", "datasets/cases.jsonl", "--target", "a", "--responses", "responses.jsonl")
REASON = "the pass rate is 0.5, below fail-under 0.9; n = 10"
HEADLINE = "cases × a: 50.0 % [23.7, 76.3]; gate failed: fail-under"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    root = write_cases(tmp_path_factory.mktemp("headlines"), 10)
    write_responses(root, {"a": ["y", "n"] * 5})
    gated = (*RUN, "--fail-under", "0.9")
    commands = {
        "text": gated,
        "markdown": (*gated, "--format", "markdown"),
        "junit": (*gated, "--format", "junit"),
        "show": ("show", "latest"),
        "report": ("report", "latest", "-o", "report.html"),
        "resume": ("resume", "latest", "--fail-under", "0.4"),
    }
    done = dict(zip(commands, run_many(root, commands.values()), strict=True))
    page = (root / "report.html").read_text(encoding="utf-8")
    return {**done, "html": Done(0, page, "")}


def test_the_exit_codes_are_those_of_the_gates(told: dict[str, Done]) -> None:
    assert [told[name].code for name in ("text", "markdown", "junit")] == [1, 1, 1]
    assert [told[name].code for name in ("show", "report", "resume")] == [0, 0, 0]


@pytest.mark.parametrize("name", ["text", "show"])
def test_text_begins_with_the_failed_gate(told: dict[str, Done], name: str) -> None:
    lines = told[name].stdout.splitlines()

    assert lines[0] == "cases × a  completed  gate failed: fail-under"
    assert f"  gate       failed: {REASON}" in lines


def test_markdown_has_it_in_its_title_and_its_table(told: dict[str, Done]) -> None:
    lines = told["markdown"].stdout.splitlines()

    assert lines[0] == f"### {HEADLINE}"
    assert f"| gate | failed: {REASON} |" in lines


def test_html_has_it_in_its_title_and_its_heading(told: dict[str, Done]) -> None:
    assert f"<title>{HEADLINE} · Steelyard</title>" in told["html"].stdout
    assert f"<h1>{HEADLINE}</h1>" in told["html"].stdout
    assert '<p class="note bad">' in told["html"].stdout
    assert f"<span>Gate failed: {REASON}</span>" in told["html"].stdout


def test_junit_has_a_failure_named_for_the_gate(told: dict[str, Done]) -> None:
    (suite,) = ET.fromstring(told["junit"].stdout)
    (case,) = (one for one in suite.findall("testcase") if one.attrib["classname"] == "gate")

    assert case.attrib["name"] == "fail-under"
    assert case[0].attrib["message"] == f"failed: {REASON}"
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("11", "6")


def test_a_gate_named_at_a_resumption_takes_the_place_of_the_first(told: dict[str, Done]) -> None:
    assert "gate failed" not in told["resume"].stdout
    assert "gate       passed: fail-under looked at the pass rate, 50.0 %" in told["resume"].stdout


def test_every_form_says_which_part_was_run_and_what_is_missing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = write_cases(tmp_path_factory.mktemp("parts"), 10)
    write_responses(root, {"a": ["yyn", "y??", "nnn", *["yyy"] * 7]})
    part = (*RUN, "--repeat", "3", "--limit", "3", "--where", "id ~ q")
    text, markdown, junit, _ = run_many(
        root,
        [
            part,
            (*part, "--format", "markdown"),
            (*part, "--format", "junit"),
            ("report", "latest", "-o", "report.html"),
        ],
    )
    chosen = "a part of the dataset, by --limit 3, --where id ~ q"
    (suite,) = ET.fromstring(junit.stdout)
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite[0]}

    assert f"  selected   {chosen}" in text.stdout
    assert f"| selected | {chosen.replace('~', chr(92) + '~')} |" in markdown.stdout
    assert properties["selected"] == chosen
    assert chosen[1:] in (root / "report.html").read_text(encoding="utf-8")
    assert properties["bounds"].endswith("if all 2 tries without a score had failed or passed")
    assert f"| bounds | {properties['bounds']} |" in markdown.stdout
    assert "| pass@3 | " in markdown.stdout
    assert "| pass^3 | " in markdown.stdout


def test_a_limit_that_leaves_nothing_out_selects_no_part(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    root = write_cases(tmp_path_factory.mktemp("limits"), 10)
    write_responses(root, {"a": ["y"] * 10})
    whole, part = run_many(root, [(*RUN, "--limit", "10"), (*RUN, "--limit", "9")])

    assert "a part of the dataset" not in whole.stdout
    assert "a part of the dataset, by --limit 9" in part.stdout
