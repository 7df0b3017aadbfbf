"""What the page of a run is made of: what to look at, and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.served_runs import make_runs
from servers.run_service import document, record
from steelyard import evaluate
from steelyard.project import open_project
from steelyard.results.records import RecordQuery
from steelyard.usecases.results.folder_records import FolderRecords
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.web.runs.run_results import finished_results


def answer(prompt: str) -> str:
    return f"eeeee {prompt}"


@pytest.mark.parametrize(
    ("scoring", "weights", "said"),
    [
        ("{combine: all_pass}", (0, 1), "“"),
        ("{combine: min}", (0, 1), "“"),
        ("{combine: weighted_avg}", (0, 1), "It has no weight in the verdict. “"),
        ("{combine: weighted_avg}", (0, 0), "“"),
    ],
)
def test_a_check_without_weight_is_said_to_have_none_only_where_weights_decide(
    tmp_path: Path, scoring: str, weights: tuple[int, int], said: str
) -> None:
    """Without any weight all checks must pass; other combinations do not ask for weights."""
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "short.yaml").write_text(
        "id: short\nversion: 1.0.0\nchecks:\n"
        f"  - {{id: short, kind: regex, pattern: '^.{{0,3}}$', weight: {weights[0]}}}\n"
        f"  - {{id: has_e, kind: must_contain_any, phrases: [e], weight: {weights[1]}}}\n"
        f"scoring: {scoring}\n",
        encoding="utf-8",
    )
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(document([record("a")])), encoding="utf-8")
    with open_project(tmp_path) as project:
        run = evaluate(cases, target=answer, rubric="rubric/short@1.0", project=project)

        (item,) = finished_results(project, Path(run.folder)).look

    assert (item.name, item.words.partition("“")[0] + "“") == ("short", said)


def test_the_store_and_the_files_find_letters_in_either_case(tmp_path: Path) -> None:
    """One record is called ü; its answer is yes."""
    runs = make_runs(tmp_path)
    with open_project(tmp_path) as project:
        folder = project.result_ports().runs / runs.done
        sources = (stored_records(project.result_ports(), runs.done), FolderRecords(folder))
        found = {
            text: [source.count(RecordQuery(text=text)) for source in sources]
            for text in ("Ü", "ü", "é", "MUCH LONGER", "ücks")
        }

    assert found == {
        "Ü": [1, 1],
        "ü": [1, 1],
        "é": [0, 0],
        "MUCH LONGER": [1, 1],
        "ücks": [0, 0],
    }
