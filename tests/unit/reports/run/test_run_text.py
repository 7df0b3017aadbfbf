"""A run's result for a terminal and for a pull request."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.reports.run.run_markdown import run_markdown
from steelyard.reports.run.run_text import next_steps, run_lines
from steelyard.reports.run.slices_text import low_slices
from steelyard.results.facts import CheckFact
from strategies.run_facts import checked, facts
from strategies.run_views import run_view

SKIPPED = CheckFact("quick", "latency", "skipped", None, None)
UNSCORED = CheckFact("quick", "latency", "unscored", None, None)


def lines(*given: object, **manifest: object) -> list[str]:
    return list(run_lines(run_view(given, **manifest)))  # type: ignore[arg-type]


def test_a_run_is_told_with_every_denominator_interval_and_method() -> None:
    told = lines(
        facts(
            0,
            passed=True,
            latency_ms=100.0,
            input_tokens=1000,
            output_tokens=20,
            cost_usd=0.25,
            checks=(checked("right", passed=True), SKIPPED),
        ),
        facts(1, passed=False, latency_ms=300.0, checks=(checked("right", passed=False), SKIPPED)),
    )

    assert told == [
        "qa × live  completed",
        "  pass rate  50.0 % [9.5, 90.5]  1 of 2 evaluated (95 % interval)",
        "  score      0.500 [0.095, 0.905]",
        "  records    2 = 2 evaluated + 0 failed + 0 skipped",
        "  latency    p50 200 ms, p95 290 ms",
        "  tokens     1,000 in, 20 out (n = 1)",
        "  cost       $0.2500 (n = 1)",
        "  check      right  50.0 % [9.5, 90.5]  n = 2",
        "  check      quick  – (nothing evaluated)  n = 0, 2 skipped",
    ]


def test_a_check_that_judges_decide_names_them() -> None:
    view = run_view([facts(0, passed=True, checks=(checked("kind", passed=True),))])
    rate = CorrectedRate(judge="judge/kind@1.0.0", reason="new")
    check = structs.replace(view.metrics.checks["kind"], corrected_pass_rate=rate)
    metrics = structs.replace(view.metrics, checks={"kind": check})

    told = list(run_lines(replace(view, metrics=metrics)))

    assert told[-1] == "  check      kind  100.0 % [20.7, 100.0]  n = 1  by judge/kind@1.0.0"


def test_a_run_in_which_nothing_was_evaluated_has_no_rate() -> None:
    told = lines(facts(0, status="timeout"), facts(1, status="skipped"))

    assert told == [
        "qa × live  completed",
        "  pass rate  – (nothing evaluated)  0 of 0 evaluated (95 % interval)",
        "  score      – (nothing evaluated)",
        "  records    2 = 0 evaluated + 1 failed + 1 skipped",
        "  bounds     0.0 % to 100.0 % if all 2 records without a score had failed or passed",
        "  latency    p50 –, p95 –",
    ]


def test_bounds_are_told_while_records_have_no_score() -> None:
    told = lines(facts(0, passed=True), facts(1))

    bounds = "  bounds     50.0 % to 100.0 % if the record without a score had failed or passed"
    assert bounds in told


def test_what_stands_behind_the_denominators_is_told_where_there_is_any() -> None:
    told = lines(
        facts(0, passed=True, attempts=2),
        facts(1, status="invalid_record", attempts=0),
        facts(2, answered=True, checks=(UNSCORED,)),
        facts(3, status="cancelled"),
        facts(4, passed=True),
        facts(4, passed=False, repeat=1),
    )

    assert told[2].endswith("a record counts by the share of its tries that passed")
    assert told[4] == (
        "  records    5 = 2 evaluated + 2 failed + 1 skipped "
        "(1 invalid, 1 unscored, 1 cancelled, 1 retried, 6 rows, 3 of them without a result)"
    )
    tries = "if the tries without a score had all failed or all passed"
    assert told[-7:-1] == [
        "  check      quick  – (nothing evaluated)  n = 0, 1 unscored",
        "  pass@2     100.0 % [20.7, 100.0]  one of 2 tries passes, n = 1",
        f"  bounds     pass@2 is 40.0 % to 100.0 % {tries}",
        "  smaller k  pass@1 75.0 % [19.8, 97.3] n = 2, bounds 20.0 % to 90.0 %",
        "  pass^2     0.0 % [0.0, 80.0]  every one of 2 tries passes, n = 1",
        f"  bounds     pass^2 is 0.0 % to 80.0 % {tries}",
    ]


def tried(*cases: tuple[bool, ...]) -> list[str]:
    return lines(
        *(
            facts(index, passed=passed, repeat=repeat)
            for index, case in enumerate(cases)
            for repeat, passed in enumerate(case)
        )
    )


def test_smaller_k_are_listed_and_single_tries_once() -> None:
    told = tried((True, True, False), (True, True, True))

    smaller = [line for line in told if "smaller k" in line]
    assert [re.sub(r" \[[^]]*\]", "", line) for line in smaller] == [
        "  smaller k  pass@1 83.3 % n = 2; pass@2 100.0 % n = 2",
        "  smaller k  pass^2 66.7 % n = 2",
    ]
    assert not any("bounds" in line for line in told)


@pytest.mark.parametrize(
    ("cases", "text"),
    [
        (
            [(True, True)] * 8 + [(False, False)] * 4,
            (
                "100 % of the variance is between records, 0 % between repeats: add records; more "
                "repeats change little (twice the records would narrow the interval by 29 %, "
                "twice the repeats by 0 %)"
            ),
        ),
        (
            [(True, True)] * 5 + [(False, False)] * 3 + [(True, False)] * 4,
            (
                "35 % of the variance is between records, 65 % between repeats: add records; more "
                "repeats help a little (twice the records would narrow the interval by 29 %, "
                "twice the repeats by 13 %)"
            ),
        ),
        (
            [(True, False)] * 12,
            (
                "0 % of the variance is between records, 100 % between repeats: more repeats help "
                "about as much as more records (twice the records would narrow the interval by "
                "29 %, twice the repeats by 29 %)"
            ),
        ),
    ],
)
def test_the_advice_says_whether_to_add_records_or_repeats(
    cases: list[tuple[bool, ...]], text: str
) -> None:
    assert tried(*cases)[-1] == f"  noise      {text}"


GROUPS = "groups (a conversation, or a record without one)"


@pytest.mark.parametrize(
    ("manifest", "groups"),
    [
        ({}, GROUPS),
        ({"options": {"cluster": "conversation_id"}}, GROUPS),
        ({"options": {"cluster": "metadata.document"}}, "groups of one metadata.document"),
    ],
)
def test_dependent_records_are_said_to_count_for_less(
    manifest: dict[str, Any], groups: str
) -> None:
    records = [facts(at, passed=at < 80, cluster=f"talk {at // 5}") for at in range(100)]
    told = lines(*records, **manifest)
    text = f"100 records in 20 {groups} count as about 19 independent records"

    assert told[1] == "  pass rate  80.0 % [56.2, 92.6]  80 of 100 evaluated (95 % interval)"
    assert told[2] == f"             {text}"
    assert f"| dependent records | {text} |" in run_markdown(run_view(records, **manifest))


def test_slices_that_differ_and_scores_that_are_missing_unevenly_are_told() -> None:
    def record(index: int, passed: bool | None, name: str) -> object:
        status = "timeout" if passed is None else "evaluated"
        return facts(index, status=status, passed=passed, slices=(("tags", name),))

    told = lines(
        *(record(index, True, "loans") for index in range(40)),
        *(record(40 + index, index > 8, "fees") for index in range(10)),
        *(record(50 + index, None, "fees") for index in range(10)),
    )

    assert told[-3].startswith(
        "  weak slice tags = fees  10.0 % [1.8, 40.4]  n = 10, below the rest"
    )
    assert told[-2:] == [
        "  missing    tags = fees: 10 of 20 have no score, of the others 0 of 40",
        "  missing    tags = loans: 0 of 40 have no score, of the others 10 of 20",
    ]


@pytest.mark.parametrize(
    ("status", "style"), [("completed", "good"), ("completed_with_failures", "warning")]
)
def test_a_status_has_its_colour(status: str, style: str) -> None:
    view = run_view([facts(0, passed=True)], status=status)
    first = next(run_lines(view, lambda text, style: f"<{style}>{text}</>"))

    assert first == f"<title>qa × live</>  <{style}>{status.replace('_', ' ')}</>"


def test_a_run_of_several_targets_names_them_all() -> None:
    assert lines(targets={"a": {}, "b": {}})[0] == "qa × a + b  completed"


def test_no_name_can_move_the_cursor() -> None:
    told = lines(
        *(
            facts(
                index,
                passed=False,
                slices=(("tags", "\x1b[2J"),),
                checks=(checked("\x1b]0;x\x07", passed=False),),
            )
            for index in range(5)
        ),
        dataset_id="qa\r",
    )

    assert all(line.isprintable() for line in told)


def test_the_next_steps_name_the_run_and_its_folder() -> None:
    assert list(next_steps(run_view())) == [
        "  artifacts  runs/run_01",
        "  inspect    steelyard show run_01",
        "  share      steelyard report run_01 -o report.html",
    ]


def test_conversations_whose_turns_do_not_agree_cost_nothing() -> None:
    records = [facts(at, passed=at % 3 > 0, cluster=f"talk {at // 2}") for at in range(60)]

    assert not any("independent records" in line for line in lines(*records))


def test_the_lowest_slices_come_first_and_are_at_most_three() -> None:
    """Four slices of six records with 0, 1, 2 and 3 passes."""
    view = run_view(
        facts(6 * number + place, passed=place < number, slices=(("tags", f"t{number}"),))
        for number in range(4)
        for place in range(6)
    )

    assert low_slices(view.metrics, view.slices) == [
        ("lowest", "tags = t0", "0.0 % [0.0, 39.0]  n = 6, could be chance"),
        ("lowest", "tags = t1", "16.7 % [3.0, 56.4]  n = 6, could be chance"),
    ]
    assert len(low_slices(view.metrics, view.slices, most=1)) == 1


def test_weak_slices_come_before_lower_ones_that_could_be_chance() -> None:
    sizes = {"fees": (40, 10), "small": (5, 3), "rest": (100, 95)}
    outcomes = [(name, at < good) for name, (n, good) in sizes.items() for at in range(n)]
    view = run_view(
        facts(index, passed=passed, slices=(("tags", name),))
        for index, (name, passed) in enumerate(outcomes)
    )
    weak, low = low_slices(view.metrics, view.slices)[:2]

    assert (weak.word, weak.name) == ("weak slice", "tags = fees")
    assert weak.text == "25.0 % [14.2, 40.2]  n = 40, below the rest (adjusted p < 0.001)"
    assert (low.word, low.name) == ("lowest", "tags = small")


@pytest.mark.parametrize(
    ("records", "value", "passes", "others", "low"),
    [
        pytest.param(4, "t", 0, 1, 0, id="too few records"),
        pytest.param(6, None, 0, 1, 0, id="records without the field"),
        pytest.param(6, "t", 6, 1, 0, id="no fail"),
        pytest.param(6, "t", 0, 0, 0, id="the whole run"),
        pytest.param(6, "t", 0, 1, 1, id="below the whole"),
    ],
)
def test_a_slice_that_is_not_below_the_run_is_not_listed(
    records: int, value: str | None, passes: int, others: int, low: int
) -> None:
    sliced = (facts(at, passed=at < passes, slices=(("tags", value),)) for at in range(records))
    view = run_view([*sliced, *(facts(records + at, passed=True) for at in range(others))])

    assert len(low_slices(view.metrics, view.slices)) == low


def test_a_slice_above_the_rest_is_never_called_weak() -> None:
    view = run_view(
        facts(at, passed=at >= 60 or at % 6 > 0, slices=(("tags", "ab"[at < 60]),))
        for at in range(120)
    )
    rows = {one.name: one.word for one in low_slices(view.metrics, view.slices)}

    assert rows == {"tags = b": "weak slice"}


def test_a_slice_without_a_rate_is_not_listed() -> None:
    unscored = (facts(index, slices=(("tags", "t"),)) for index in range(9))
    view = run_view([*unscored, facts(9, passed=True)])

    assert low_slices(view.metrics, view.slices) == []


def test_a_pull_request_gets_a_heading_and_a_table() -> None:
    view = run_view(
        facts(index, passed=index < 3, latency_ms=100.0, slices=(("tags", "ab"[index == 0]),))
        for index in range(6)
    )

    assert run_markdown(view).splitlines() == [
        "### qa × live: 50.0 % [18.8, 81.2]",
        "",
        "`run_01` · completed",
        "",
        "| | |",
        "|---|---|",
        "| pass rate (95 % interval) | 50.0 % [18.8, 81.2], n = 6 |",
        "| score | 0.500 [0.188, 0.812] |",
        "| records | 6 = 6 evaluated + 0 failed + 0 skipped |",
        "| latency | p50 100 ms, p95 100 ms |",
        "| lowest tags = a | 40.0 % [11.8, 76.9]  n = 5, could be chance |",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain-name_1.0", "plain-name_1.0"),
        ("a|b", r"a\|b"),
        ("<img src=x>", r"\<img src=x\>"),
        ("[link](x)", r"\[link\](x)"),
        ("*bold* _thin_", r"\*bold\* \_thin\_"),
        ("`code` ~~x~~ \\", r"\`code\` \~\~x\~\~ \\"),
        ("R&D #1", "R\\&D \\#\u20601"),
        ("two\nlines", "two lines"),
    ],
)
def test_markdown_shows_names_as_they_are(name: str, shown: str) -> None:
    view = run_view(
        [
            facts(9, passed=True),
            *(facts(index, passed=False, slices=(("tags", name),)) for index in range(5)),
        ],
        dataset_id=name,
    )
    first, *_, last = run_markdown(view).splitlines()

    assert first.startswith(f"### {shown} × live: ")
    assert last.startswith(f"| lowest tags = {shown} | ")
