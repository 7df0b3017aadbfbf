"""The page of a judge that people were compared with more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from fakes.definitions import JUDGE
from fakes.projects import Project as Folder
from fakes.validations import a_validation, an_item
from servers.service import running
from steelyard.model.statistics.validation import CanaryCount, CanaryTally, Counts
from steelyard.project import open_project
from steelyard.stats.confusion import rates_of
from steelyard.usecases.judges.judge_standing import JudgeStanding
from steelyard.web.authors.judges import standing_word

NAME = "judge/kind@1.0.0"
HOSTILE = "<script>alert(1)</script>"
ITEMS = (an_item(1, is_good=False, record_id=HOSTILE), an_item(2, run_id="run_2"))


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    Folder(tmp_path).write("judges/kind.yaml", JUDGE.format(id="kind", version="1.0.0"))
    cut_off = CanaryCount(id="truncated", asked=3, passed=1, unscored=0)
    first = a_validation(
        judge=NAME,
        validated_at="2026-01-01T00:00:00+00:00",
        canaries=CanaryTally(asked=3, passed=1, passed_ids=("truncated",), by_canary=(cut_off,)),
    )
    canaries = CanaryTally(asked=33, passed=2, unscored=1, passed_ids=("praise",))
    second = a_validation(
        judge=NAME,
        validated_at="2026-02-01T00:00:00+00:00",
        counts=Counts(tp=1, fp=1),
        label_set_sha256="others",
        items=ITEMS,
        canaries=canaries,
        refusals=(f"no better than a coin {HOSTILE}",),
    )
    with open_project(tmp_path) as project:
        assert project.validations.add(first)
        assert project.validations.add(second)
        assert project.validations.add(replace(second, judge="judge/kind@0.9.0", seed=1))
        with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
            yield client


def test_the_newest_validation_of_the_version_decides(client: httpx.Client) -> None:
    listed = client.get("/judges").text
    page = client.get("/judges/kind%401.0.0").text

    assert "Refused" in listed
    assert "no better than a coin" in page
    assert HOSTILE not in page
    assert '<svg class="chart rates"' in page
    assert page.partition('data-csv="validations"')[2].count('<th scope="row">') >= 3


def test_an_earlier_validation_has_an_address(client: httpx.Client) -> None:
    page = client.get("/judges/kind%401.0.0?validation=1").text

    assert "It passes 90 of the 100 answers that people pass" in page
    assert "the beginning is taken for the whole" in page
    assert "not the newest validation of this version" in page
    assert "The validation keeps only counts, not the items behind them." in page


def test_items_lead_to_their_records_and_canaries_are_not_overstated(client: httpx.Client) -> None:
    page = client.get("/judges/kind%401.0.0").text

    assert 'href="/runs/run_1/records/1"' in page
    assert "It passes 2 of 32 answers that it must fail. 1 has no score." in page
    canaries = page.partition('data-csv="canaries"')[2]
    assert canaries.index("Passes it") < canaries.index("Not passed")
    assert "Fails it" not in canaries
    assert "This validation does not say which of them have no score." in page
    assert "the predictions of run_1 are not there any more" in page


@pytest.mark.parametrize(
    ("counts", "kind", "word"),
    [
        (Counts(tp=90, fn=10, tn=40, fp=10), "flag", "Validated"),
        (Counts(tp=23, fn=1, tn=2, fp=6), "invalid", "Measured, TNR low"),
        (Counts(tp=1, fn=9, tn=2, fp=6), "invalid", "Measured, TPR and TNR low"),
    ],
)
def test_a_validation_is_no_praise(counts: Counts, kind: str, word: str) -> None:
    """Green is for verdicts; a judge that is mostly wrong about bad answers is called so."""
    standing = JudgeStanding(state="validated", rates=rates_of(counts))

    assert standing_word(standing) == (kind, word)


def test_the_list_of_judges_counts_good_and_bad_answers_apart(client: httpx.Client) -> None:
    found = client.get("/judges").text

    assert "0 of 1</small>" in found
    assert found.count(" of 1</small>") == 2
