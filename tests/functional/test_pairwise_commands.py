"""`compare --pairwise` as a user gives it: recorded answers, a recorded judge, real runs."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checker import check_run
from fakes.many_commands import Done, run_many
from fakes.pairwise_project import (
    FIRST,
    JSON,
    LOST,
    TIED,
    WON,
    Picks,
    replies,
    run,
    write_pairwise,
    write_rows,
)

pytestmark = pytest.mark.trials

NAMES = ("one", "two", "three")
PAIRWISE = ("--pairwise", "judge/pairwise@1.0.0")
GATE = ("--fail-if", "worse")
MIXED: list[Picks] = [*[WON] * 12, *[LOST] * 3, *[TIED] * 2, *[FIRST] * 2, ("a", None)]


def ids(done: list[Done]) -> list[str]:
    return [json.loads(one.stdout)["run_id"] for one in done]


def two_runs(root: Path) -> list[str]:
    return ids(run_many(root, [run("one"), run("two")]))


def found(done: Done) -> dict[str, Any]:
    (comparison,) = json.loads(done.stdout)["pairwise"]["comparisons"]
    return comparison


def rows(folder: str, name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(folder) / name).read_text("utf-8").splitlines()]


class Desk:
    """A project of 30 records with a finished run of each of three targets."""

    def __init__(self, root: Path, runs: list[str]) -> None:
        self.root = root
        self.runs = runs

    def copied(self, to: Path, said_by_judge: list[dict[str, Any]]) -> Desk:
        """The same project with other replies of its judge."""
        shutil.copytree(self.root, to)
        write_rows(to / "replies.jsonl", said_by_judge)
        return Desk(to, self.runs)

    def compare(self, *words: str, runs: int = 2) -> tuple[str, ...]:
        """The command that compares the first runs."""
        return ("compare", *self.runs[:runs], *PAIRWISE, *words)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Made once; every test has its own copy."""
    root = write_pairwise(tmp_path_factory.mktemp("desk") / "p", 30, replies([WON]), targets=NAMES)
    return Desk(root, ids(run_many(root, [run(name) for name in NAMES])))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What the commands say about two runs of 20 records, one of which has one order only."""
    root = write_pairwise(tmp_path_factory.mktemp("pairwise") / "p", 20, replies(MIXED))
    a, b = two_runs(root)
    pairwise = ("compare", a, b, "--pairwise", "judge/pairwise@1.0.0")
    commands: dict[str, tuple[str, ...]] = {
        "plan": (*pairwise, "--plan"),
        "none": ("runs", *JSON),
        "json": (*pairwise, *JSON),
        "runs": ("runs", *JSON),
        "listed": ("runs", "--limit", "1"),
        "show": ("show", "latest"),
        "show json": ("show", "latest", *JSON),
        "record": ("show", "latest", "q0"),
        "verify": ("verify", "latest"),
        "resume": ("resume", "latest", *JSON),
        "text": (*pairwise, "--fail-if", "worse", "-o", "found.txt"),
        "turned": ("compare", b, a, "--pairwise", "pairwise", *JSON, "--fail-if", "worse"),
        "retry": ("retry", "latest"),
        "regrade": ("regrade", "latest", "--rubric", "any"),
        "itself": ("compare", a, a, "--pairwise", "pairwise"),
        "of pairwise": ("compare", a, "latest", "--pairwise", "pairwise"),
        "graded": ("compare", a, b, "--pairwise", "accuracy"),
        "unknown": ("compare", a, b, "--pairwise", "judge/no@1.0.0"),
        "html": (*pairwise, "--format", "html"),
        "alone": ("compare", a, b, "--budget", "1"),
        "one": ("compare", a, "--pairwise", "pairwise"),
        "margin": (*pairwise, "--fail-if", "worse by 50"),
        "file": ("compare", a, b, "--pairwise", "judges/better.yaml", *JSON),
    }
    done = dict(zip(commands, run_many(root, list(commands.values())), strict=True))
    done["written"] = Done(0, (root / "found.txt").read_text("utf-8"), "")
    done["ids"] = Done(0, f"{a} {b}", "")
    check_run(Path(found(done["json"])["artifacts"]))
    return done


def test_a_plan_makes_no_run_and_counts_both_orders(told: dict[str, Done]) -> None:
    assert told["plan"].code == 0
    assert "about 40 calls to judge" in told["plan"].stdout
    assert len(json.loads(told["none"].stdout)["data"]) == 2


def test_the_win_rate_stands_with_its_parts_and_its_test(told: dict[str, Done]) -> None:
    got = found(told["json"])
    rate = got["win_rate"]

    assert (got["wins"], got["losses"], got["ties"], got["contradictions"]) == (12, 3, 2, 2)
    assert (rate["value"], rate["n"]) == (14 / 19, 19)
    assert 0.5 < rate["low"] < 14 / 19 < rate["high"] < 1
    assert got["p_value"] == pytest.approx(0.03515625)
    assert got["verdict"] == "judge prefers B"
    assert json.loads(told["json"].stdout)["pairwise"]["bradley_terry"] == []


def test_a_record_with_one_order_is_unscored_and_no_tie(told: dict[str, Done]) -> None:
    got = found(told["json"])
    row = rows(got["artifacts"])[19]

    assert told["json"].code == 4
    assert (got["records"], got["unscored"]) == (20, 1)
    assert (row["status"], row["score"], row["passed"]) == ("evaluation_error", None, None)
    assert "1 of 20 record(s) have no score" in told["json"].stderr


def test_the_bias_for_a_place_is_reported(told: dict[str, Done]) -> None:
    position = found(told["json"])["position"]

    assert (position["first_rate"]["value"], position["first_rate"]["n"]) == (19 / 34, 34)
    assert (position["flip_rate"]["value"], position["flip_rate"]["n"]) == (2 / 17, 17)
    assert position["favours"] is None


def test_the_run_says_what_it_was_made_from_and_by_which_judge(told: dict[str, Done]) -> None:
    a, b = told["ids"].stdout.split()
    folder = Path(found(told["json"])["artifacts"])
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    derived = manifest["derived_from"]
    (judge,) = manifest["judges"]

    assert (derived["how"], derived["run_id"], derived["against"]["run_id"]) == ("pairwise", b, a)
    assert judge["judge"] == "judge/pairwise@1.0.0"
    assert len(judge["fingerprints"]) == 1
    assert found(told["json"])["judges"][0]["fingerprints"] == judge["fingerprints"]


def test_the_picks_can_be_read_from_the_artifacts(told: dict[str, Done]) -> None:
    (score,) = rows(found(told["json"])["artifacts"])[0]["evaluator_scores"]

    assert (score["kind"], score["score"]) == ("pairwise", 1.0)
    assert score["details"]["picks"] == {"ab": "second", "ba": "first"}
    assert [call["item"] for call in score["details"]["calls"]] == ["ab", "ba"]


def test_it_is_a_run_like_any_other(told: dict[str, Done]) -> None:
    newest = json.loads(told["runs"].stdout)["data"][0]

    assert newest["run_id"] == found(told["json"])["run_id"]
    assert newest["target"] == "one vs two"
    assert "pairwise comparison" in told["listed"].stdout
    assert told["verify"].code == 0
    assert (
        json.loads(told["resume"].stdout)["pairwise"]
        == json.loads(told["json"].stdout)["pairwise"]
    )


def test_show_has_the_comparison_and_every_prompt(told: dict[str, Done]) -> None:
    assert (
        "judge prefers B (the opinion of this judge, not checked against people)"
        in told["show"].stdout
    )
    assert (
        json.loads(told["show json"].stdout)["pairwise"]
        == json.loads(told["json"].stdout)["pairwise"]
    )
    assert "one says 0" in told["record"].stdout
    assert "two says 0" in told["record"].stdout


def test_the_judge_learns_nothing_about_the_runs(told: dict[str, Done]) -> None:
    a, b = told["ids"].stdout.split()
    prompts = told["record"].stdout

    for name in (a, b, "one vs two", "run_"):
        assert name not in prompts


def test_the_text_has_every_figure_with_its_denominator(told: dict[str, Done]) -> None:
    text = told["written"].stdout
    a, b = told["ids"].stdout.split()

    assert told["text"].stdout == "wrote found.txt\n"
    for said in (
        f"A  one  {a}",
        f"B  two  {b}",
        "judge/pairwise@1.0.0 via target judge, fingerprint ",
        "20 = 19 decided + 1 unscored",
        "B 73.7 % [53.9, 86.6]  12 wins + 3 losses + 2 ties + 2 contradictions of 19",
        "(paired score interval, 95 %)",
        "exact sign test, p = 0.035",
        "first place preferred in 55.9 % [",
        "of 34 decisions",
        "of 17 pairs of answers decided in both orders",
        "  judge prefers B (",
    ):
        assert said in text


def test_a_gate_looks_at_the_pairwise_verdict_and_says_so(told: dict[str, Done]) -> None:
    a, b = told["ids"].stdout.split()

    assert told["text"].code == 4
    looked_at = "'worse' looked at the pairwise win rate 73.7 % [53.9, 86.6], n = 19"
    assert f"{b} against {a}: gate passed: {looked_at}" in told["text"].stderr


def test_without_a_decision_runs_cannot_be_compared(told: dict[str, Done]) -> None:
    """No reply was recorded for the other order of the runs."""
    assert told["turned"].code == 2
    assert found(told["turned"])["verdict"] == "cannot be compared"
    assert found(told["turned"])["win_rate"]["value"] is None
    assert "cannot be compared: no record has a decision" in told["turned"].stderr


def test_a_judge_may_be_a_file(told: dict[str, Done]) -> None:
    assert found(told["file"])["unscored"] == 20
    assert "judge/better@1.0.0" in told["file"].stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("retry", "compares the answers of"),
        ("regrade", "compares the answers of"),
        ("itself", "a run cannot be compared with itself"),
        ("of pairwise", "is a pairwise comparison itself"),
        ("graded", "its template names {{ output_a }} and {{ output_b }}"),
        ("unknown", "judge/no@1.0.0"),
        ("html", "--format html: a pairwise comparison is shown as text, json or markdown"),
        ("alone", "need --pairwise JUDGE"),
        ("one", "name two runs to compare"),
        ("margin", "--fail-if 'worse by N' with --pairwise: N lies below 50 points"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(
    told: dict[str, Done], name: str, said: str
) -> None:
    assert told[name].code == 2
    assert said in told[name].stderr
    assert "Traceback" not in told[name].stderr


def test_a_judge_that_looks_at_places_alone_prefers_nobody(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([FIRST] * 30))
    text, data = run_many(made.root, [made.compare(), made.compare(*JSON)])
    got = found(data)

    assert (text.code, data.code) == (0, 0)
    assert got["win_rate"]["value"] == 0.5
    assert got["win_rate"]["low"] < 0.5 < got["win_rate"]["high"]
    assert (got["contradictions"], got["verdict"]) == (30, "no preference detectable")
    assert got["position"]["flip_rate"]["value"] == 1.0
    assert got["position"]["favours"] == "first"
    assert "flips       100.0 % [" in text.stdout
    assert (
        "the judge favours the first place (p < 0.001), which benefits neither run" in text.stdout
    )
    assert "no preference detectable" in text.stdout


def test_contradictions_that_all_lean_to_one_place_are_called(desk: Desk, tmp_path: Path) -> None:
    """Eight of thirty records are decided by the place, the others by the answers."""
    made = desk.copied(tmp_path / "p", replies([FIRST] * 8 + [WON, LOST] * 11))
    text, data = run_many(made.root, [made.compare(), made.compare(*JSON)])
    position = found(data)["position"]

    assert (position["favours"], position["p_value"]) == ("first", pytest.approx(2 / 2**8))
    assert position["first_rate"]["low"] > 0.5
    assert (
        "the judge favours the first place (p = 0.008), which benefits neither run" in text.stdout
    )


def test_worse_fails_the_gate(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([LOST] * 30))
    (done,) = run_many(made.root, [made.compare(*GATE)])

    assert done.code == 1
    assert "judge prefers A" in done.stdout
    assert "gate failed: the judge prefers A; 'worse' looked at" in done.stderr
    assert "win rate 0.0 % [0.0, 11.4], n = 30" in done.stderr


@pytest.mark.parametrize(
    ("picks", "gate", "ended"),
    [
        (
            [*[WON] * 15, *[LOST] * 15],
            "worse by 20",
            (
                0,
                "gate passed: 'worse by 20' looked at the lower bound of the pairwise win rate 50",
            ),
        ),
        (
            [*[WON] * 15, *[LOST] * 15],
            "worse by 5",
            (1, "gate failed: the win rate of B may be 45 % or less; if it is not, about 8"),
        ),
        (
            [LOST] * 30,
            "worse by 30",
            (1, "gate failed: the win rate of B is below 20 %; 'worse by"),
        ),
        ([*[WON] * 29, ("a", None)], "worse by 5", (4, "gate passed: 'worse by 5' looked at")),
        (
            [*[WON] * 15, *[LOST] * 5, *[("a", None)] * 10],
            "worse by 5",
            (2, "cannot be compared: 10 record(s) without a decision could change the verdict"),
        ),
        (
            [FIRST] * 30,
            "worse by 5",
            (2, "the judge contradicts itself on 30 of 30 records when the order is swapped"),
        ),
        ([FIRST] * 30, "worse", (2, "the judge contradicts itself on 30 of 30 records")),
        ([*[FIRST] * 10, *[WON] * 10, *[LOST] * 10], "worse", (0, "gate passed")),
        ([*[FIRST] * 10, *[TIED] * 20], "worse by 6", (2, "contradicts itself on 10 of 30")),
    ],
)
def test_a_margin_of_the_win_rate(
    desk: Desk, tmp_path: Path, picks: list[Picks], gate: str, ended: tuple[int, str]
) -> None:
    made = desk.copied(tmp_path / "p", replies(picks))
    (done,) = run_many(made.root, [made.compare("--fail-if", gate)])

    assert done.code == ended[0]
    assert ended[1] in done.stderr


def test_records_that_b_did_not_answer_never_pass_a_gate(desk: Desk, tmp_path: Path) -> None:
    """B answers 8 of 30 records, all well; the other 22 calls failed."""
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    answers = [{"record_id": f"q{n}", "response_text": "short"} for n in range(8)]
    failed = [{"record_id": f"q{n}", "error_code": "bad_request"} for n in range(8, 30)]
    write_rows(made.root / "two.jsonl", [*answers, *failed])
    (second,) = ids(run_many(made.root, [run("two")]))
    words = ("compare", made.runs[0], second, *PAIRWISE)
    plain, gate = run_many(made.root, [(*words, *JSON), (*words, *GATE)])

    assert plain.code == 0
    assert found(plain)["left_out"]["no_answer_in_b"] == 22
    assert found(plain)["verdict"] == "judge prefers B"
    assert gate.code == 2
    assert "22 without an answer in B" in gate.stdout
    assert (
        "cannot be compared: 22 record(s) without a decision could change the verdict"
        in gate.stderr
    )


def test_records_of_one_run_alone_are_left_out_and_counted(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    words = ("compare", made.runs[0], "latest", *PAIRWISE, *JSON)
    _, done = run_many(made.root, [run("two", "--limit", "9"), words])

    assert (found(done)["records"], found(done)["left_out"]["only_in_a"]) == (9, 21)


def test_runs_without_a_common_record_cannot_be_compared(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    text = (made.root / "desk.yaml").read_text("utf-8").replace("Question", "Other")
    (made.root / "desk.yaml").write_text(text, "utf-8")
    words = ("compare", made.runs[0], "latest", *PAIRWISE)
    _, done = run_many(made.root, [run("two"), words])

    assert done.code == 2
    assert "cannot be compared" in done.stderr


def test_answers_with_the_same_text_are_ties_and_nobody_is_asked(
    desk: Desk, tmp_path: Path
) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    answers = ["one says 0", "one says 1", *(f"two says {n}" for n in range(2, 30))]
    write_rows(
        made.root / "two.jsonl",
        ({"record_id": f"q{n}", "response_text": text} for n, text in enumerate(answers)),
    )
    (second,) = ids(run_many(made.root, [run("two")]))
    words = ("compare", made.runs[0], second, *PAIRWISE)
    text, data = run_many(made.root, [words, (*words, *JSON)])
    got = found(data)
    attempts = rows(got["artifacts"], "attempt_logs.jsonl")

    assert (got["identical"], got["ties"], got["wins"]) == (2, 2, 28)
    assert got["position"]["first_rate"]["n"] == 56
    assert "2 with identical answers, not judged" in text.stdout
    assert len([row for row in attempts if row["call"] == "judge/pairwise@1.0.0"]) == 56


@pytest.mark.parametrize(
    ("picks", "said"),
    [
        (TIED, "no decision for either place"),
        (("a", "tie"), "first place preferred in 100.0 %"),
    ],
)
def test_a_tie_says_nothing_about_flips(
    desk: Desk, tmp_path: Path, picks: Picks, said: str
) -> None:
    made = desk.copied(tmp_path / "p", replies([picks] * 30))
    (done,) = run_many(made.root, [made.compare()])

    assert said in done.stdout
    assert "flips" not in done.stdout
    assert "no preference detectable" in done.stdout


def test_conversations_count_once(desk: Desk, tmp_path: Path) -> None:
    """Two conversations of ten records, all won: no preference by conversations."""
    made = desk.copied(tmp_path / "p", replies([WON] * 20))
    cases = [
        {
            "id": f"q{n}",
            "input": f"Question {n}?",
            "expected_outcome": "An answer.",
            "conversation_id": f"c{n // 10}",
        }
        for n in range(20)
    ]
    write_rows(made.root / "desk.jsonl", cases)
    words = ("run", "desk.jsonl", "--target")
    *runs, refused = run_many(
        made.root,
        [
            *((*words, name, "--rubric", "any", *JSON) for name in ("one", "two")),
            (*words, "one", "--judge", "pairwise"),
        ],
    )
    (done,) = run_many(made.root, [("compare", *ids(runs), *PAIRWISE, *JSON)])
    got = found(done)

    assert (got["wins"], got["verdict"]) == (20, "no preference detectable")
    assert (got["test"], got["win_rate"]["clusters"]) == ("cluster permutation test", 2)
    assert refused.code == 2
    assert "judge/pairwise@1.0.0, which compares two answers and cannot grade" in refused.stderr


def test_repeats_are_compared_one_with_the_other_and_a_record_counts_once(
    desk: Desk, tmp_path: Path
) -> None:
    """B wins both repeats of three records, and one of two of the last."""
    said = [{**row, "repeat": 0} for row in replies([WON] * 4)]
    said += [{**row, "repeat": 1} for row in replies([WON] * 3 + [LOST])]
    made = desk.copied(tmp_path / "p", said)
    for name in ("one", "two"):
        answers = [
            {"record_id": f"q{n}", "repeat": k, "response_text": f"{name} {n} {k}"}
            for n in range(4)
            for k in range(2)
        ]
        write_rows(made.root / f"{name}.jsonl", answers)
    more = ("--repeat", "2", "--limit", "4")
    runs = ids(run_many(made.root, [run("one", *more), run("two", *more)]))
    pairwise = ("compare", *runs, *PAIRWISE)
    done, text = run_many(made.root, [(*pairwise, *JSON), pairwise])
    got = found(done)
    second = rows(got["artifacts"])[1]

    assert (got["records"], got["rows"], got["win_rate"]["n"]) == (4, 8, 4)
    assert (got["wins"], got["losses"], got["ties"]) == (3, 0, 1)
    assert got["test"] == "exact sign test"
    assert "4 = 4 decided + 0 unscored; 8 repeats were compared, and each record" in text.stdout
    assert second["trace"]["output_a"] == "one 0 1"
    assert second["model_response"] == "two 0 1"


def test_three_runs_are_judged_pair_by_pair_with_one_table(desk: Desk, tmp_path: Path) -> None:
    """One beats two in 20 of 30, two beats three in 20 of 30, one beats three in 25 of 30."""
    said = [
        *replies([LOST] * 20 + [WON] * 10, "one vs two"),
        *replies([LOST] * 20 + [WON] * 10, "two vs three"),
        *replies([LOST] * 25 + [WON] * 5, "one vs three"),
    ]
    made = desk.copied(tmp_path / "p", said)
    first, second, third = made.runs
    text, data, gate, listed = run_many(
        made.root,
        [*(made.compare(*more, runs=3) for more in ((), JSON, GATE)), ("runs", *JSON)],
    )
    got = json.loads(data.stdout)["pairwise"]
    table = got["bradley_terry"]
    strengths = [row["strength"]["value"] for row in table]
    verdicts = [one["verdict"] for one in got["comparisons"]]
    groups = {row["group"] for row in json.loads(listed.stdout)["data"][:3]}

    assert (text.code, data.code) == (0, 0)
    assert [row["run_id"] for row in table] == [first, second, third]
    assert [(row["won"], row["met"]) for row in table] == [(45, 60), (30, 60), (15, 60)]
    assert strengths == sorted(strengths, reverse=True)
    assert sum(strengths) == pytest.approx(0)
    assert table[0]["strength"]["low"] < strengths[0] < table[0]["strength"]["high"]
    assert "Bradley-Terry strengths" in text.stdout
    assert all(run_id in text.stdout for run_id in made.runs)
    assert sorted(one["level"] for one in got["comparisons"]) == pytest.approx(
        [0.05 / 3, 0.05 / 2, 0.05 / 2]
    )
    assert verdicts == ["no preference detectable", "judge prefers A", "no preference detectable"]
    assert "adjusted for all pairs of runs (Holm)" in text.stdout
    assert gate.code == 1
    assert (gate.stderr.count("gate failed"), gate.stderr.count("gate passed")) == (1, 1)
    assert len(groups) == 1
    assert None not in groups


def test_a_table_without_intervals_says_why(desk: Desk, tmp_path: Path) -> None:
    pairs = ("one vs two", "one vs three", "two vs three")
    said = [row for pair in pairs for row in replies([LOST] * 30, pair)]
    made = desk.copied(tmp_path / "p", said)
    (done,) = run_many(made.root, [made.compare(runs=3)])

    assert "[no interval]  won 60 of 60  one" in done.stdout
    assert "no interval where a run has a win, or a loss, in fewer than 10 records" in done.stdout


def test_three_runs_without_any_decision_have_no_table(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON], "nobody vs nobody"))
    text, data = run_many(made.root, [made.compare(*GATE, runs=3), made.compare(*JSON, runs=3)])

    assert (text.code, data.code) == (2, 4)
    assert "Bradley" not in text.stdout
    assert json.loads(data.stdout)["pairwise"]["bradley_terry"] == []


def test_the_same_target_twice_is_called_by_its_runs(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    words = ("compare", made.runs[0], "latest", *PAIRWISE, *JSON)
    again, done = run_many(made.root, [run("one"), words])
    (second,) = ids([again])

    assert found(done)["a"] == {"run_id": made.runs[0], "title": made.runs[0]}
    assert found(done)["b"]["title"] == second
    assert found(done)["identical"] == 30


def test_what_is_missing_is_said_before_any_call(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    settings = (made.root / "steelyard.yaml").read_text("utf-8")
    (made.root / "steelyard.yaml").write_text(settings.partition("judges:")[0], "utf-8")
    (no_target,) = run_many(made.root, [made.compare()])
    (made.root / "steelyard.yaml").write_text(settings, "utf-8")
    (made.root / "desk.yaml").unlink()
    (no_dataset,) = run_many(made.root, [made.compare()])

    assert (no_target.code, no_dataset.code) == (2, 2)
    assert "has no target: set judges.pairwise.target" in no_target.stderr
    assert f"the dataset of {made.runs[1]} is gone: desk.yaml" in no_dataset.stderr


def test_a_rubric_that_asks_a_pairwise_judge_is_invalid(desk: Desk, tmp_path: Path) -> None:
    """JD-15"""
    made = desk.copied(tmp_path / "p", [])
    rubric = (
        "id: wrong\nversion: 1.0.0\n"
        "checks: [{id: c, kind: llm_judge, judge_prompt_ref: judge/better@1.0.0}]\n"
        "scoring: {combine: all_pass}\n"
    )
    (made.root / "rubrics" / "wrong.yaml").write_text(rubric, "utf-8")
    judge, wrong, graded = run_many(
        made.root,
        [
            ("validate", "--strict", "judges/better.yaml"),
            ("validate", "rubrics/wrong.yaml"),
            ("run", "desk.yaml", "--target", "one", "--rubric", "rubrics/wrong.yaml"),
        ],
    )

    assert (judge.code, wrong.code, graded.code) == (0, 1, 2)
    assert "[pairwise_judge]" in wrong.stdout
    for one in (wrong.stdout, graded.stderr):
        assert "judge/better@1.0.0 compares two answers and cannot grade one" in one


def test_a_pruned_comparison_shows_the_numbers_that_are_left(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    run_many(made.root, [made.compare()])
    with closing(sqlite3.connect(made.root / ".steelyard" / "steelyard.db")) as db, db:
        (at,) = db.execute("SELECT max(at) FROM run_states").fetchone()
        then = datetime.fromisoformat(at) - timedelta(days=40)
        db.execute("UPDATE run_states SET at = ?", (then.isoformat(timespec="milliseconds"),))
    pruned, shown, resumed = run_many(
        made.root,
        [("prune", "--yes"), ("show", "latest"), ("resume", "latest", *JSON)],
    )

    assert pruned.code == 0, pruned.stderr
    assert "pass rate  100.0 %" in shown.stdout
    assert (resumed.code, "pairwise" in json.loads(resumed.stdout)) == (0, False)


def test_folders_of_runs_are_enough(desk: Desk, tmp_path: Path) -> None:
    made = desk.copied(tmp_path / "p", replies([WON] * 30))
    a, b = made.runs[:2]
    for name in (a, b):
        shutil.copytree(made.root / ".steelyard" / "runs" / name, made.root / "copies" / name)
    words = ("compare", f"copies/{a}", f"copies/{b}", *PAIRWISE, *JSON)
    (done,) = run_many(made.root, [words])

    assert (done.code, found(done)["wins"]) == (0, 30)
