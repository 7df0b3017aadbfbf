"""The tables say what was measured, and why something was not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bench.child import Cost
from bench.peers.measurement import Measurement, Measurements, Setting
from bench.peers.table import Marginal, Report
from bench.peers.tool import Command, Tool
from bench.peers.trial import CASES, SMALL, Extent

EXTENT = Extent(few=1_000, many=2_000)
FEW, MANY = Setting(50, 64, 1_000), Setting(50, 64, 2_000)


def tool(name: str) -> Tool:
    return Tool(
        name=name,
        how=f"as {name} is",
        install=lambda: "",
        command=lambda _: Command(()),
        passed=lambda job, _: job.samples,
    )


def report(folder: Path, *made: Measurement) -> Report:
    kept = Measurements(folder / "kept.json")
    for one in made:
        kept.add(one)
    return Report(
        tools={"bare_loop": tool("bare loop"), "scale": tool("Scale"), "far": tool("Far")},
        versions={"bare_loop": "3", "scale": "1.0"},
        absent={"far": "npm is not on this machine"},
        kept=kept,
        extent=EXTENT,
        machine="2 cores",
        command="python -m bench.peers",
    )


def run(name: str, setting: Setting, cost: Cost, turn: int = 0) -> Measurement:
    return Measurement(name, {"bare_loop": "3", "scale": "1.0"}[name], setting, turn, cost)


def measured(folder: Path) -> Report:
    """One case of two tools: 0.2 and 0.5 ms of CPU a sample, 1,000 and 400 samples a second."""
    return report(
        folder,
        run("scale", SMALL, Cost(0.75, 0.5, 60_000_000)),
        run("bare_loop", FEW, Cost(1.0, 0.3, 40_000_000)),
        run("bare_loop", MANY, Cost(2.0, 0.5, 44_000_000)),
        run("scale", FEW, Cost(3.0, 1.0, 80_000_000)),
        run("scale", MANY, Cost(5.5, 1.5, 90_000_000)),
        run("scale", FEW._replace(at_once=256), Cost(3.0, 1.0, 100_000_000)),
    )


def rows(text: str, name: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith(f"| {name} |")
    ]


def test_a_sample_costs_its_part_of_the_difference(tmp_path: Path) -> None:
    assert measured(tmp_path).marginal("scale", 50, 64) == Marginal(cpu_ms=0.5, wall_ms=2.5)


@pytest.mark.parametrize(
    ("many", "cells"),
    [
        (Cost(3.0, 1.5, 1), ["0.500", "–"]),
        (Cost(3.5, 1.0, 1), ["–", "2,000 (156.2%)"]),
        (Cost(2.9, 0.9, 1), ["–", "–"]),
    ],
)
def test_a_difference_that_does_not_show_is_no_number(
    tmp_path: Path, many: Cost, cells: list[str]
) -> None:
    text = report(tmp_path, run("scale", FEW, Cost(3.0, 1.0, 1)), run("scale", MANY, many)).text()

    assert [row[3] for row in rows(text, "Scale")[:2]] == cells


def test_there_is_no_ratio_to_a_loop_whose_cost_does_not_show(tmp_path: Path) -> None:
    text = report(
        tmp_path,
        run("bare_loop", FEW, Cost(1.0, 1.0, 1)),
        run("bare_loop", MANY, Cost(2.0, 1.0, 1)),
        run("scale", FEW, Cost(3.0, 1.0, 1)),
        run("scale", MANY, Cost(5.5, 1.5, 1)),
    ).text()

    assert rows(text, "Scale")[0][3] == "0.500"


def test_the_limit_counts_every_call_of_a_sample(tmp_path: Path) -> None:
    plain = measured(tmp_path)
    tools = {name: replace(one, answers=("weeks", "judge")) for name, one in plain.tools.items()}

    text = replace(plain, tools=tools).text()

    assert rows(text, "bare loop")[1][3] == "1,000 (156.2%)"


def test_a_report_shows_its_own_cases_command_and_note(tmp_path: Path) -> None:
    extent = replace(EXTENT, cases=((50, 64),))
    shown = replace(measured(tmp_path), extent=extent, command="this", note="So much is missing.")

    text = shown.text()

    assert text.startswith("Measured by `this`: 2 cores; ")
    assert "1,000 and 2,000 samples. So much is missing.\n" in text
    assert rows(text, "Scale")[0] == ["Scale", "0.500 (2.50 ×)"]


def test_each_tool_has_a_row_in_each_table(tmp_path: Path) -> None:
    text = measured(tmp_path).text()

    assert rows(text, "bare loop") == [
        ["bare loop", "–", "–", "0.200", "–"],
        ["bare loop", "–", "–", "1,000 (78.1%)", "–"],
        ["bare loop", "3", "–", "40 MB", "44 MB", "0–1"],
    ]
    assert rows(text, "Scale") == [
        ["Scale", "–", "–", "0.500 (2.50 ×)", "–"],
        ["Scale", "–", "–", "400 (31.2%)", "–"],
        ["Scale", "1.0", "0.75 s (0.50 s of CPU)", "100 MB", "90 MB", "0–1"],
    ]


def test_without_a_delay_there_is_no_limit_to_have_a_share_of(tmp_path: Path) -> None:
    shown = report(
        tmp_path,
        run("scale", Setting(0, 64, 1_000), Cost(3.0, 1.0, 1)),
        run("scale", Setting(0, 64, 2_000), Cost(5.0, 2.0, 1)),
    ).text()

    assert rows(shown, "Scale")[:2] == [
        ["Scale", "1.000", "–", "–", "–"],
        ["Scale", "500", "–", "–", "–"],
    ]


def test_a_tool_that_cannot_be_run_has_a_reason(tmp_path: Path) -> None:
    text = measured(tmp_path).text()

    assert rows(text, "Far")[2] == [
        "Far",
        "not run: npm is not on this machine",
        *["–"] * 4,
    ]


def test_a_run_that_failed_is_named_below(tmp_path: Path) -> None:
    failed = Measurement("scale", "1.0", MANY, 0, failure="did not end within 600 s")

    text = report(tmp_path, failed).text()

    assert "\nScale with 2,000 samples, 64 at once, 50 ms: did not end within 600 s.\n" in text


def test_the_number_of_runs_is_one_when_all_cases_have_as_many(tmp_path: Path) -> None:
    made = [
        run("scale", Setting(*case, 2_000), Cost(1.0, 1.0, 1), turn)
        for case in CASES
        for turn in (0, 1)
    ]

    assert rows(report(tmp_path, *made).text(), "Scale")[2][-1] == "2"


def test_the_text_says_where_how_much_and_how(tmp_path: Path) -> None:
    text = measured(tmp_path).text()

    assert text.startswith(
        "Measured by `python -m bench.peers`: 2 cores; medians of up to 3 runs."
    )
    assert "between 1,000 and 2,000 samples" in text
    assert text.endswith("- **Scale**: as Scale is.\n- **Far**: as Far is.")
