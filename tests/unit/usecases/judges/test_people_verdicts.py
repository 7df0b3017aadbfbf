"""What people say of a run: majorities of blind labels at the places of their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from fakes.predictions import prediction
from fakes.review_project import jsonl, label, write_review
from steelyard import evaluate
from steelyard.project import Project, open_project
from steelyard.results.predictions import Prediction
from steelyard.results.records import Place, RecordQuery
from steelyard.usecases.judges.people_verdicts import (
    PeopleOfRun,
    PeopleVerdict,
    people_by_slice,
    people_verdicts,
)
from steelyard.usecases.results.records import Records
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.usecases.review.import_labels import LabelFile, import_labels


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    write_review(tmp_path)
    with open_project(tmp_path) as opened:
        yield opened


def labelled(project: Project, *rows: dict[str, Any]) -> PeopleOfRun | None:
    run = evaluate("desk.json", target="desk", rubric="rubric/jury@1.0", project=project)
    path = project.root / "labels.jsonl"
    jsonl(path, [{**row, "run_id": run.run_id} for row in rows])
    if rows:
        with path.open("rb") as stream:
            kept = import_labels(project.review_ports(), LabelFile(stream, str(path)))
        assert kept.read == kept.imported == len(rows)
    records = stored_records(project.result_ports(), run.run_id)
    found = people_verdicts(project.review_ports(), project.run_folder(run.run_id), records)
    if found:
        query = RecordQuery(only="differs", among=found.differing)
        assert records.count(query) == len(found.differing)
    return found


def said(number: int, person: str, passed: bool, **more: Any) -> dict[str, Any]:
    row = label(number, person, passed=passed, **more)
    return {**row, "rubric": "good"}


def test_most_people_decide_and_are_compared_with_the_run(project: Project) -> None:
    found = labelled(
        project,
        said(1, "mara", True),
        said(1, "odile", False),
        said(1, "jonas", False),
        said(2, "mara", False),
        said(3, "mara", True),
        said(3, "odile", False),
        said(7, "mara", True, exposure="suggested"),
    )

    assert found is not None
    assert found.rubric == "good"
    assert found.verdicts == {(1, 0): (1, 3), (2, 0): (0, 1), (3, 0): (1, 2)}
    assert [one.is_good for one in found.verdicts.values()] == [False, False, None]
    assert found.differing == ((1, 0),)


def test_a_run_that_nobody_has_read_has_none(project: Project) -> None:
    assert labelled(project) is None


class ReadRecords:
    """Records of one slice, by their indices."""

    def predictions(self, places: Sequence[Place]) -> list[Prediction]:
        """Those at some places."""
        return [
            prediction(index, repeat=repeat, slices={"topic": "loans"}) for index, repeat in places
        ]


def people(chances: bool) -> PeopleOfRun:
    """Sixty of 200: 30 of 170 that the judge passes, 27 of them good, and all 30 it fails."""
    good = [True] * 27 + [False] * 3 + [True] * 3 + [False] * 27
    verdicts = {(index, 0): PeopleVerdict(int(is_good), 1) for index, is_good in enumerate(good)}
    known = {(index, 0): 30 / 170 if index < 30 else 1.0 for index in range(60)}
    return PeopleOfRun(
        rubric="good", verdicts=verdicts, differing=(), chances=known if chances else {}
    )


def test_answers_count_by_the_chance_with_which_they_were_chosen() -> None:
    records = cast(Records, ReadRecords())
    weighted = people_by_slice(people(chances=True), records)["topic", "loans"]
    plain = people_by_slice(people(chances=False), records)["topic", "loans"]

    assert weighted.value == pytest.approx((170 * 0.9 + 3) / 200)
    assert (weighted.n, plain.n) == (60, 60)
    assert plain.value == pytest.approx(0.5)
    assert weighted.low is not None
    assert weighted.high is not None
    assert weighted.high - weighted.low > 0.15, "unequal weights are worth fewer answers"


def test_chances_are_those_of_the_queue_with_most_labels(project: Project) -> None:
    found = labelled(
        project,
        said(1, "mara", True, inclusion_prob=0.25, queue_id="queue_a"),
        said(2, "mara", False, inclusion_prob=0.25, queue_id="queue_a"),
        said(2, "odile", False, inclusion_prob=0.5, queue_id="queue_b"),
        said(1, "mara", False, inclusion_prob=0.9, queue_id="queue_c"),
        said(3, "jonas", True, inclusion_prob=0.5, queue_id="queue_c"),
    )

    assert found is not None
    # the answer of one person in a later queue is no second vote
    assert found.verdicts == {(1, 0): (1, 1), (2, 0): (0, 2), (3, 0): (1, 1)}
    assert (found.chances, found.queue) == ({(1, 0): 0.25, (2, 0): 0.25}, "queue_a")


def test_chances_count_where_every_label_has_one(project: Project) -> None:
    found = labelled(
        project,
        said(1, "mara", True, inclusion_prob=0.25),
        said(2, "mara", False, inclusion_prob=1.0),
    )
    assert found is not None
    assert found.chances == {(1, 0): 0.25, (2, 0): 1.0}


def test_one_label_without_a_chance_leaves_the_choice_unknown(project: Project) -> None:
    found = labelled(project, said(1, "mara", True, inclusion_prob=0.25), said(2, "mara", False))
    assert found is not None
    assert found.chances == {}
