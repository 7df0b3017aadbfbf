"""The guide for moving from promptfoo: its project and its commands, as a user types them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
PAGE = Path(__file__).parents[2] / "docs" / "from-promptfoo.md"


def test_the_commands_of_the_guide_lead_from_a_promptfoo_project_to_a_comparison(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    blocks = re.findall(r"```\w*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        named = re.match(r"# (\S+\.(?:yaml|txt|csv))\n", block)
        if named:
            file = tmp_path / named[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(block[named.end() :], encoding="utf-8")
    (commands,) = [block.splitlines() for block in blocks if block.startswith("steelyard ")]
    convert, run, compare = [steelyard(*line.split()[1:], cwd=tmp_path) for line in commands]

    assert convert.returncode == 0
    assert "3 read = 3 written + 0 invalid + 0 skipped + 0 left out" in convert.stderr
    assert f"next      {commands[1]}" in convert.stderr
    assert "lost" not in convert.stderr
    assert "2 of 3 evaluated" in run.stdout
    assert "3 of 3 evaluated" in run.stdout
    assert compare.returncode == 0
    assert "pairs      3 records with a score in both runs" in compare.stdout


_FAIL = """
  - {vars: {text: one}, threshold: 0.6, assert: [
      {type: contains, value: one}, {type: contains-all, value: [one, two, three]}]}
  - {vars: {text: "1"}, threshold: 0.6, assert: [
      {type: contains, value: "1"}, {type: is-json, value: {type: object}}]}
  - {vars: {text: bar foo}, assert: [{type: not-contains-all, value: [bar, foo]}]}
"""
_PASS = """
  - {vars: {text: one}, threshold: 0.7, assert: [{type: assert-set, assert: [
      {type: contains, value: one, weight: 3}, {type: contains-all, value: [one, two]}]}]}
  - {vars: {text: foo}, assert: [{type: not-contains-all, value: [bar, foo]}]}
  - {vars: {text: "2"}, assert: [{type: not-is-json, value: {type: object}}]}
"""


@pytest.mark.parametrize(("tests", "told"), [(_FAIL, "0 of 3"), (_PASS, "3 of 3")])
def test_assertions_that_promptfoo_scores_zero_or_one_decide_the_same_here(
    steelyard: Steelyard, tmp_path: Path, tests: str, told: str
) -> None:
    config = f"prompts: ['{{{{text}}}}']\nproviders: [echo]\ntests:{tests}"
    (tmp_path / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    names = ["--from", "promptfoo", "--to", "eval_cases", "-o", "cases.yaml"]
    convert = steelyard("convert", "promptfooconfig.yaml", *names, cwd=tmp_path)
    run = steelyard("run", "cases.yaml", "--target", "echo", cwd=tmp_path)

    assert "lost" not in convert.stderr
    assert f"{told} evaluated" in run.stdout


_CONFIG = "prompts: ['{{{{text}}}}']\nproviders: [echo]\ntests:\n{tests}"
_NAMES = ("--from", "promptfoo", "--to", "eval_cases", "-o", "cases.yaml")
_RUBRIC = """\
{id: r, version: 1.0.0, checks: [{id: c, kind: regex, pattern: o}], scoring: {combine: min}}
"""


def test_the_next_command_of_cases_that_nothing_grades_says_what_has_to_be_added(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    config = _CONFIG.format(tests="- {vars: {text: one}}\n- {vars: {text: two}}")
    (tmp_path / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "r.yaml").write_text(_RUBRIC, encoding="utf-8")
    convert = steelyard("convert", "promptfooconfig.yaml", *_NAMES, cwd=tmp_path)
    (line,) = re.findall(r"next +steelyard (.*)", convert.stderr)
    run = steelyard(*line.replace("FILE", "r.yaml").split(), cwd=tmp_path)

    assert "grading: nothing grades any case" in convert.stderr
    assert line.endswith("--rubric FILE")
    assert (run.returncode, "2 of 2 evaluated" in run.stdout) == (0, True)


def test_a_run_says_how_many_records_lost_an_assertion(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    tests = (
        "- {vars: {text: one}, assert: [{type: equals, value: one}, {type: rouge-n, value: a}]}\n"
        "- {vars: {text: two}, assert: [{type: equals, value: two}]}\n"
        "- {vars: {text: six}, assert: [{type: rouge-n, value: six}]}"
    )
    config = _CONFIG.format(tests=tests)
    (tmp_path / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "r.yaml").write_text(_RUBRIC, encoding="utf-8")
    steelyard("convert", "promptfooconfig.yaml", *_NAMES, cwd=tmp_path)
    run = steelyard("run", "cases.yaml", "--target", "echo", cwd=tmp_path)
    other = steelyard("run", "cases.yaml", "--target", "echo", "--rubric", "r.yaml", cwd=tmp_path)

    assert "1 record(s) are graded without all of their assertions" in run.stderr
    assert "without all of their assertions" not in other.stderr


def test_prompts_without_variables_are_asked_as_they_stand(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    tests = "tests: [{assert: [{type: contains, value: Say}]}]"
    config = f"prompts: [Say A, Say B]\nproviders: [echo]\n{tests}"
    (tmp_path / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    convert = steelyard("convert", "promptfooconfig.yaml", *_NAMES, cwd=tmp_path)
    (line,) = re.findall(r"next +steelyard (.*)", convert.stderr)
    run = steelyard(*line.split(), cwd=tmp_path)

    assert run.returncode == 0
    assert run.stdout.count("1 of 1 evaluated") == 2
