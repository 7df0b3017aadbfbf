"""The `steelyard` fixture in somebody's tests: it evaluates, and fails with the numbers."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from fakes.desk_project import write_desk
from fakes.warm_command import COVERAGE

pytest_plugins = ["pytester"]

PLUGIN = "steelyard.pytest_plugin"

HEAD = """
    import pytest
    from steelyard.checks.must_contain_any import MustContainAny

    SAID = {"open": "At nine.", "book": "Three weeks.", "B\\u00fccher": "Nichts."}

    def agent(prompt):
        return next((text for word, text in SAID.items() if word in prompt), "No idea.")

    def moody(prompt):
        if "open" in prompt:
            raise RuntimeError("no mood")
        return "Nichts, nine weeks in the garage."
"""
LOADED = """
import sys
import steelyard.pytest_plugin

print(sorted(name for name in sys.modules if name.startswith("steelyard")))
print("aiohttp" in sys.modules or "sqlalchemy" in sys.modules or "numpy" in sys.modules)
"""


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plug-in runs in other processes alone."""
    for name, value in COVERAGE.items():
        monkeypatch.setenv(name, value)


def outcome(pytester: pytest.Pytester, tests: str) -> pytest.RunResult:
    """What pytest says about some tests beside the desk's project."""
    write_desk(pytester.path)
    (pytester.path / "steelyard.yaml").unlink()
    pytester.makepyfile(HEAD + tests)
    points = entry_points(group="pytest11")
    is_installed = any(point.value == PLUGIN for point in points)
    options = ("-p", "no:cacheprovider", "-p", "no:asyncio")
    return pytester.runpytest_subprocess(*options, *(() if is_installed else ("-p", PLUGIN)))


def test_a_test_may_name_a_rubric_a_judge_and_some_records(pytester: pytest.Pytester) -> None:
    """Files lie beside the test, and what the project knows in its folder."""
    result = outcome(
        pytester,
        """
    from pathlib import Path

    RUBRIC = (
        "{id: mine, version: 1.0.0, checks: [{id: c, kind: regex, pattern: nine}], "
        "scoring: {combine: min}}"
    )

    @pytest.mark.parametrize("is_beside", [True, False])
    def test_rubric(steelyard, is_beside):
        folder = Path() if is_beside else steelyard.folder / "rubrics"
        folder.mkdir(exist_ok=True)
        (folder / "mine.yaml").write_text(RUBRIC, encoding="utf-8")
        name = "mine.yaml" if is_beside else "rubric/mine@1.0.0"
        path = "datasets/desk.jsonl"
        run = steelyard.evaluate(path, target=agent, rubric=name, limit=2)

        assert [row["passed"] for row in run.records()] == [True, False]

    def test_where(steelyard):
        run = steelyard.evaluate("datasets/desk.jsonl", target=agent, where="id=hours")

        assert [row["record_id"] for row in run.records()] == ["hours"]

    def test_judge(steelyard):
        with pytest.raises(Exception, match="judge/gone@1.0.0"):
            steelyard.evaluate("datasets/desk.jsonl", target=agent, judge="judge/gone@1.0.0")
""",
    )

    result.assert_outcomes(passed=4)


def test_a_test_evaluates_a_function_and_passes(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
    def test_desk(steelyard, tmp_path):
        run = steelyard.evaluate("datasets/desk.jsonl", target=agent)

        assert run.metrics.pass_count == 3
        assert len(list(run.records())) == 4
        assert run.folder.is_relative_to(tmp_path)
        steelyard.assert_passes(run, at_least=0.75)

    def test_checks(steelyard):
        check = MustContainAny(phrases=("nine", "weeks", "Nichts", "No idea"))
        run = steelyard.evaluate("datasets/desk.jsonl", target=agent, checks=[check], repeat=2)

        assert run.metrics.rows == 8
        steelyard.assert_passes(run)

    def test_named_target(steelyard):
        text = "targets: {parrot: {provider: echo}}"
        (steelyard.folder / "steelyard.yaml").write_text(text, encoding="utf-8")
        run = steelyard.evaluate("datasets/desk.jsonl", target="parrot")

        assert run.metrics.rows == 4
    """,
    )

    result.assert_outcomes(passed=3)
    assert not (pytester.path / ".steelyard").exists()


def test_a_failure_shows_rate_interval_denominators_and_reasons(
    pytester: pytest.Pytester,
) -> None:
    result = outcome(
        pytester,
        """
    def test_rate(steelyard):
        run = steelyard.evaluate("datasets/desk.jsonl", target=agent)
        steelyard.assert_passes(run, at_least=0.8)

    @pytest.mark.parametrize("allowed", [0, 1])
    def test_missing(steelyard, allowed):
        run = steelyard.evaluate("datasets/desk.jsonl", target=moody)
        steelyard.assert_passes(run, allow_failures=allowed)

    def test_invalid(steelyard):
        steelyard.evaluate("datasets/flawed.jsonl", target=agent)
    """,
    )

    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "the pass rate is 0.75, below fail-under 0.8; n = 4",
            "  pass rate  75.0 % [[]30.1, 95.4]  3 of 4 evaluated (95 % interval)",
            "  records    4 = 4 evaluated + 0 failed + 0 skipped",
            "  artifacts  */.steelyard/runs/run_*",
            "not passed:",
            "  parking  fail  says: does not contain 'garage'",
            "1 of 4 record(s) have no score, more than allow-failures 0",
            "  records    4 = 3 evaluated + 1 failed + 0 skipped",
            "  hours  evaluation_error  RuntimeError: no mood",
            "*InvalidError: datasets/flawed.jsonl has 1 error(s), the first: *",
        ]
    )


@pytest.mark.trials
def test_a_least_rate_that_is_none_is_refused_in_words(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
    @pytest.mark.parametrize("least", [float("nan"), None, -1, 0, "80%", 80, True])
    def test_least(steelyard, least):
        run = steelyard.evaluate("datasets/desk.jsonl", target=agent)
        with pytest.raises(Exception, match="at_least is a share above 0, at most 1"):
            steelyard.assert_passes(run, at_least=least)
        if least is not None:
            with pytest.raises(Exception, match="at_least_low is a share above 0, at most 1"):
                steelyard.assert_passes(run, at_least=0.1, at_least_low=least)
        with pytest.raises(Exception, match="allow_failures is a number of records"):
            steelyard.assert_passes(run, at_least=0.1, allow_failures="101%")
    """,
    )

    result.assert_outcomes(passed=7)


def test_importing_the_plugin_imports_no_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout == "['steelyard', 'steelyard.pytest_plugin']\nFalse\n"


@pytest.mark.trials
def test_repeats_without_a_score_fail_a_test_beside_a_record_without_one(
    pytester: pytest.Pytester,
) -> None:
    result = outcome(
        pytester,
        """
    calls = []

    def tired(prompt):
        calls.append(prompt)
        if "open" in prompt or calls.count(prompt) > 1:
            raise RuntimeError("no mood")
        return "Nichts, nine weeks in the garage."

    def test_tired(steelyard):
        checks = [MustContainAny(phrases=("nine",))]
        run = steelyard.evaluate(
            "datasets/desk.jsonl", target=tired, checks=checks, repeat=2, max_concurrency=1
        )
        steelyard.assert_passes(run, at_least=0.1, allow_failures=1)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1 of * record(s) and * repeat(s) of the others have no score*"])


def test_a_test_runs_for_each_case_and_a_failure_shows_question_answer_and_reasons(
    pytester: pytest.Pytester,
) -> None:
    result = outcome(
        pytester,
        """
    import steelyard

    ROWS = [{"id": "france", "q": "France?", "a": "Paris"}, {"q": "Peru?", "a": "Lima"}]

    def names_answer(trace, case):
        return case.answers[0] in trace.response

    @steelyard.cases(ROWS, input="q", expected="a")
    def test_capitals(case, steelyard):
        run = steelyard.evaluate(case, target=lambda _: "Paris.", checks=[names_answer])
        steelyard.assert_passes(run)

    @steelyard.cases("datasets/desk.jsonl")
    def test_desk(case, steelyard):
        run = steelyard.evaluate(case, target=agent)
        steelyard.assert_passes(run)

    def test_missing(steelyard):
        steelyard.evaluate("datasets/gone.jsonl", target=agent)
    """,
    )

    result.assert_outcomes(passed=4, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*test_capitals[[]row-0002]*",
            "not passed:",
            "  row-0002  fail  names_answer: returned False",
            "    question: Peru?",
            "    answer:   Paris.",
            "    names_answer: fail: returned False",
            "*test_desk[[]parking]*",
            "*NotFoundError: no such file: *gone.jsonl",
        ]
    )
    result.stdout.no_fnmatch_line("*library.py*")


def test_a_dataset_that_cannot_be_read_stops_the_collection_in_words(
    pytester: pytest.Pytester,
) -> None:
    result = outcome(
        pytester,
        """
    import steelyard

    @steelyard.cases("datasets/gone.jsonl")
    def test_desk(case):
        pass
    """,
    )

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["steelyard.cases: no such file: *gone.jsonl"])
    result.stdout.no_fnmatch_line("*Traceback*")
