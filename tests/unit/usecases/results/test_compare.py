# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false, reportOptionalMemberAccess=false
"""Two runs side by side: comparable first, then paired, and never a number without its pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.compared_runs import RUBRIC, passes, prediction, run
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.engine.metrics.extent import Extent
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.engine.metrics.unread_records import PlannedRecords, with_unread
from steelyard.errors import NotFoundError, RequestError, UnreadableFileError
from steelyard.model.statistics.comparison import CorrectedDifference
from steelyard.stats.power import records_to_detect
from steelyard.usecases.results.compare import Knowledge, compare, compare_all
from steelyard.usecases.results.gates import ComparisonGate, gate_comparison
from strategies.run_facts import facts


@pytest.mark.parametrize(
    ("a", "b", "answer", "p_value"),
    [
        ("n" * 6, "y" * 6, "better", 0.03125),
        ("y" * 6, "n" * 6, "worse", 0.03125),
        ("n" * 5, "y" * 5, "no difference detectable", 0.0625),
        ("yynn", "nnyy", "no difference detectable", 1.0),
        ("yyyy", "yyyy", "no difference detectable", 1.0),
    ],
)
def test_passes_are_compared_by_mcnemars_exact_test(tmp_path, a, b, answer, p_value):
    found = compare(run(tmp_path / "a", passes(a)), run(tmp_path / "b", passes(b)))

    assert (found.verdict, found.basis) == (answer, "raw")
    assert (found.passes.p_value, found.passes.test) == (
        pytest.approx(p_value),
        "exact McNemar test",
    )
    assert found.passes.n == len(a)


def test_how_many_records_a_difference_of_five_points_takes(tmp_path):
    found = compare(
        run(tmp_path / "a", passes("y" * 70 + "n" * 30)),
        run(tmp_path / "b", passes("y" * 60 + "n" * 10 + "y" * 20 + "n" * 10)),
    )

    assert found.verdict == "no difference detectable"
    # 30 of 100 pairs differ, which ten more of the same kind do not change
    assert found.detectable.discordant == pytest.approx(0.3)
    assert found.detectable.records == records_to_detect(5, 0.3)
    assert (found.a.rate, found.b.rate) == (0.7, 0.8)
    assert found.passes.value == pytest.approx(0.1)


def test_dependent_records_are_needed_in_larger_number(tmp_path):
    texts = ("y" * 30 + "n" * 10, "n" * 12 + "y" * 28)
    folders = [
        run(
            tmp_path / name,
            [prediction(n, c == "y", cluster=f"c{n // 4}") for n, c in enumerate(text)],
        )
        for name, text in zip("ab", texts, strict=True)
    ]
    found = compare(*folders).detectable

    assert found.design_effect > 2
    assert found.records > 2 * records_to_detect(5, found.discordant)


def test_labels_of_both_runs_lead(tmp_path):
    corrected = CorrectedDifference(value=-0.1, low=-0.2, high=-0.01, method="paired", n=6)
    known = Knowledge(correct=lambda _a, _b, pairs: corrected if len(pairs) == 6 else None)
    folders = run(tmp_path / "a", passes("n" * 6)), run(tmp_path / "b", passes("y" * 6))
    found = compare(*folders, known=known)

    assert (found.verdict, found.basis, found.raw_verdict) == ("worse", "corrected", "better")


def test_only_records_with_the_same_content_and_a_score_in_both_are_paired(tmp_path):
    changed = prediction(0, True, record_sha256="other")
    found = compare(
        run(tmp_path / "a", [*passes("yyy?y?"), prediction(9, True)]),
        run(tmp_path / "b", [changed, *passes("yyyy??")[1:]]),
    )

    assert found.passes.n == 2
    gone = found.dropped
    assert (gone.only_in_a, gone.only_in_b) == (2, 1)
    assert (gone.no_score_in_a, gone.no_score_in_b, gone.no_score_in_both) == (1, 1, 1)
    assert (found.a.records, found.b.records) == (7, 6)


def test_records_with_equal_content_are_paired_in_order(tmp_path):
    same = [prediction(n, n == 1, record_sha256="same") for n in range(3)]
    found = compare(run(tmp_path / "a", same), run(tmp_path / "b", same))

    assert found.passes.n == 3
    assert not found.improvements + found.regressions


def test_rows_without_a_hash_form_no_pair(tmp_path):
    rows = [*passes("y"), prediction(7, None, record_sha256=None)]
    found = compare(run(tmp_path / "a", rows), run(tmp_path / "b", rows))

    assert found.a.records == 1


def test_a_run_in_which_no_pair_has_a_score_says_so(tmp_path):
    found = compare(run(tmp_path / "a", passes("??")), run(tmp_path / "b", passes("yy")))

    assert found.passes.n == 0
    assert (found.passes.p_value, found.passes.value) == (None, None)
    assert (found.verdict, found.detectable) == ("cannot be compared", None)
    assert (found.a.rate, found.b.score) == (None, None)


def test_runs_without_a_common_record_cannot_be_compared(tmp_path):
    other = [prediction(0, True, record_sha256="other")]
    found = compare(run(tmp_path / "a", passes("y")), run(tmp_path / "b", other))

    assert (found.verdict, found.dropped.only_in_a) == ("cannot be compared", 1)


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("y" * 20, "?" * 8 + "y" * 12, "cannot be compared"),
        ("y" * 20, "?" * 4 + "y" * 16, "no difference detectable"),
        ("n" * 20, "?" * 8 + "n" * 12, "no difference detectable"),
        ("?" * 8 + "y" * 12, "n" * 8 + "y" * 12, "cannot be compared"),
        ("?" * 10 + "y" * 10, "y" * 20, "no difference detectable"),
        ("y" * 20, "?" * 8 + "n" * 12, "worse"),
    ],
)
def test_missing_scores_are_uneven_where_they_could_hide_that_b_is_worse(tmp_path, a, b, verdict):
    found = compare(run(tmp_path / "a", passes(a)), run(tmp_path / "b", passes(b)))

    assert found.verdict == verdict


def test_what_differs_beside_the_target_is_refused_in_strict_mode(tmp_path):
    other = [{"rubric": RUBRIC, "sha256": "edited"}]
    first = run(tmp_path / "a", passes("y"), temperature=0.5)
    second = run(tmp_path / "b", passes("y"), rubrics=other)
    found = compare(first, second)

    assert [(one.what, one.is_serious) for one in found.not_alike] == [
        ("rubric", True),
        ("temperature", False),
    ]
    assert not found.is_comparable
    with pytest.raises(RequestError, match="strict: these runs do not measure the same: rubric"):
        compare(first, second, strict=True)


def test_repeats_count_once_as_evidence(tmp_path):
    """Ten repeats of one case are one case."""
    a = [prediction(0, False, repeat=k) for k in range(10)] + [prediction(1, True)]
    b = [prediction(0, True, repeat=k) for k in range(9)] + [prediction(0, False), *a[-1:]]
    found = compare(run(tmp_path / "a", a), run(tmp_path / "b", b))

    assert (found.passes.n, found.passes.test) == (2, "cluster permutation test")
    assert found.passes.value == pytest.approx(0.45)
    assert found.verdict == "no difference detectable"
    assert found.improvements[0].score_b == pytest.approx(0.9)


def test_records_of_one_conversation_count_once_as_evidence(tmp_path):
    a = [*passes("n" * 12, cluster="one"), prediction(12, True), prediction(13, True)]
    b = [*passes("y" * 12, cluster="one"), *a[-2:]]
    found = compare(run(tmp_path / "a", a), run(tmp_path / "b", b))

    assert (found.passes.test, found.verdict) == (
        "cluster permutation test",
        "no difference detectable",
    )


def test_slices_share_one_level_of_error(tmp_path):
    def rows(text: str) -> list[dict[str, Any]]:
        made = passes(text)
        for place, one in enumerate(made):
            one["slices"] = {"tags": ["fees" if place < 8 else "loans", "all"]}
        return made

    found = compare(
        run(tmp_path / "a", rows("n" * 8 + "y" * 8)), run(tmp_path / "b", rows("y" * 16))
    )

    by_name = {one.value: one for one in found.slices}
    assert list(by_name) == ["all", "fees", "loans"]
    assert by_name["fees"].passes.n == 8
    assert by_name["fees"].is_flagged
    assert not by_name["loans"].is_flagged
    assert by_name["fees"].adjusted_p > by_name["fees"].passes.p_value


def test_what_moved_is_named_with_the_reason_of_the_fail(tmp_path):
    found = compare(run(tmp_path / "a", passes("yny")), run(tmp_path / "b", passes("nyy")))

    (worse,), (better,) = found.regressions, found.improvements
    assert (worse.record_id, worse.reason) == ("r0", "because of 0")
    assert (better.record_id, better.score_a, better.score_b) == ("r1", 0.0, 1.0)


def test_several_runs_are_compared_in_pairs(tmp_path):
    folders = [run(tmp_path / name, passes("yn")) for name in "abc"]

    pairs = [(one.a.run_id, one.b.run_id) for one in compare_all(folders)]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]


def test_one_run_without_scores_leaves_the_other_pairs(tmp_path):
    folders = [
        run(tmp_path / name, passes(text))
        for name, text in zip("abc", ("yn", "??", "yy"), strict=True)
    ]
    found = compare_all(folders)

    assert [one.verdict for one in found] == [
        "cannot be compared",
        "no difference detectable",
        "cannot be compared",
    ]
    assert found[1].passes.test.endswith("Holm over all pairs")


def test_a_damaged_or_missing_file_is_told(tmp_path):
    sound, broken = run(tmp_path / "a", passes("y")), run(tmp_path / "b", passes("y"))
    (broken / "predictions.jsonl").write_text("{")
    with pytest.raises(UnreadableFileError, match="is damaged"):
        compare(sound, broken)
    (broken / "predictions.jsonl").unlink()
    with pytest.raises(UnreadableFileError, match="cannot read"):
        compare(sound, broken)
    with pytest.raises(NotFoundError):
        compare(sound, tmp_path)


def test_real_runs_carry_slices_and_conversations(project: Project):
    """What a run seals is enough: nothing is read but the two folders."""
    dataset = project.cases(
        [{**row(f"r{n}"), "tags": ["odd" if n % 2 else "even"]} for n in range(6)]
    )
    first = project.run(project.ports(ScriptedTarget({})), dataset)
    second = project.run(project.ports(ScriptedTarget({})), dataset)
    found = compare(Path(first.folder), Path(second.folder))

    assert found.passes.n == 6
    assert [(one.slice, one.value) for one in found.slices] == [("tags", "even"), ("tags", "odd")]


def test_corrected_differences_of_several_runs_are_at_the_level_of_all_pairs(tmp_path):
    corrected = CorrectedDifference(value=0.1, low=0.01, high=0.2, method="paired", n=6)
    known = Knowledge(correct=lambda *_: corrected)
    folders = [run(tmp_path / name, passes("ynynyn")) for name in "abc"]
    found = compare_all(folders, known=known)

    assert found[0].corrected.low < 0 < found[0].corrected.high
    assert found[0].corrected.level == pytest.approx(0.05 / 3)
    assert found[0].verdict == "no difference detectable"


def test_a_corrected_difference_without_an_interval_stays_so(tmp_path):
    nothing = CorrectedDifference(value=None, low=None, high=None, method="paired", n=6)
    known = Knowledge(correct=lambda *_: nothing)
    folders = [run(tmp_path / name, passes("yn")) for name in "abc"]

    assert compare_all(folders, known=known)[0].corrected == nothing


def test_the_order_of_runs_and_of_their_records_only_turns_the_sign(tmp_path):
    rows = [{**one, "cluster": f"c{one['index'] // 3}"} for one in passes("yynnyyynyyynnyyyny")]
    others = [{**one, "slices": {"tags": ["x"]}} for one in passes("nyynynyyynnyyyyynn")[::-1]]
    first, second = run(tmp_path / "a", rows), run(tmp_path / "b", others)
    there, back = compare(first, second), compare(second, first)

    for name in ("passes", "scores"):
        one, other = getattr(there, name), getattr(back, name)
        assert (one.value, one.low, one.high) == (-other.value, -other.high, -other.low)
        assert (one.p_value, one.n_effective) == (other.p_value, other.n_effective)
    assert [one.value for one in there.slices] == [one.value for one in back.slices] == ["x"]
    assert {one.record_id for one in there.regressions} == {
        one.record_id for one in back.improvements
    }
    assert [one.index for one in there.regressions] == sorted(
        one.index for one in there.regressions
    )


def unread(folder: Path, rows: list[dict[str, Any]], total: int) -> Path:
    """A run that was cancelled when its dataset was gone, after some of its records."""
    made = run(folder, rows, unread="no such file: d.jsonl")
    of = metrics_of((facts(n, passed=one["passed"]) for n, one in enumerate(rows)), Extent(total))[
        0
    ]
    summary = with_unread(of, PlannedRecords(total, total))
    (made / "metrics_summary.json").write_text(json.dumps(summary.json()))
    return made


@pytest.mark.parametrize("is_first", [True, False])
def test_records_that_a_run_could_not_read_have_no_score_in_it(tmp_path, is_first):
    whole = run(tmp_path / "whole", passes("y" * 20))
    part = unread(tmp_path / "part", passes("y" * 8), 20)
    found = compare(part, whole) if is_first else compare(whole, part)
    dropped = found.dropped
    result = gate_comparison(found, ComparisonGate.parse("worse"))

    assert (found.a.records, found.b.records, found.passes.n) == (20, 20, 8)
    assert (dropped.only_in_a, dropped.only_in_b) == (0, 0)
    assert (dropped.no_score_in_a, dropped.no_score_in_b) == ((12, 0) if is_first else (0, 12))
    assert found.filled.value == (0 if is_first else -0.6)
    assert (result.passed, result.is_undecided) == (is_first, not is_first)


def test_a_run_has_no_more_records_without_a_score_than_it_could_not_read(tmp_path):
    edited = [{**one, "record_sha256": "edited"} for one in passes("y")]
    whole = run(tmp_path / "whole", [*edited, *passes("y" * 20)[1:]])
    part = unread(tmp_path / "part", passes("y" * 8), 12)
    found = compare(whole, part)

    assert (found.a.records, found.b.records, found.passes.n) == (20, 12, 7)
    assert found.dropped.no_score_in_b == 4
    assert (found.dropped.only_in_a, found.dropped.changed) == (9, 1)
