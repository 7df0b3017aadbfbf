"""Records of runs that are put into datasets of the database."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fakes.predictions import prediction
from fakes.projects import Project as Folder
from fakes.projects import row as eval_case
from fakes.projects import rows_of
from fakes.targets import ScriptedTarget
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.project import Project, open_project
from steelyard.results.predictions import Prediction, read_prediction
from steelyard.usecases.datasets.add_record import AddedRecord, add_record, open_drafts
from steelyard.usecases.datasets.dataset_versions import show_dataset
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from steelyard.usecases.datasets.record_case import RecordOrigin

_LETTER = "write to jane.doe@example.org about it"

_RUBRIC = """\
id: agrees
version: 1.0.0
checks:
  - {id: says_yes, kind: must_contain_any, phrases: [yes]}
scoring: {combine: all_pass}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Folder]:
    """A project whose runs redact addresses."""
    settings = "retry: {backoff_s: [0, 0]}\nredaction: {patterns: [email]}\n"
    made = Folder(tmp_path, settings)
    yield made
    made.close()


@pytest.fixture
def project(folder: Folder) -> Generator[Project]:
    """The same, opened."""
    with open_project(folder.root) as opened:
        yield opened


def ran(folder: Folder, dataset: Path) -> tuple[str, list[Prediction]]:
    """A run of a dataset, and its rows."""
    folder.write("rubrics/agrees.yaml", _RUBRIC)
    chosen = {"rubric": "rubric/agrees@1.0"} if dataset.suffix == ".json" else {}
    done = folder.run(folder.ports(ScriptedTarget()), dataset, **chosen)
    rows = [read_prediction(json.dumps(row).encode()) for row in rows_of(done)]
    return Path(done.folder).name, rows


def add(project: Project, row: Prediction, dataset: Path | None, **choice: Any) -> AddedRecord:
    """Put a record into a dataset."""
    origin = RecordOrigin(
        run_id="run_1", dataset=dataset, row=row, redact=project.redactor().whole
    )
    return add_record(project.registry_ports(), origin, **choice)


def content(project: Project, reference: str) -> bytes:
    """What the database keeps."""
    saved = project.saved_definitions
    return next(saved.content(one) for one in saved.all("dataset") if one.reference == reference)


def test_a_record_keeps_the_contract_it_came_from_and_what_grades_it(
    folder: Folder, project: Project
) -> None:
    dataset = folder.cases([eval_case("a"), eval_case("b")])
    _, rows = ran(folder, dataset)
    made = add(project, rows[1], dataset, name="failing")
    assert made.reference == "dataset/failing@1"
    assert made.is_new
    assert made.carried == ("source",)
    text = content(project, made.reference).decode()
    assert "equals" in text
    assert show_dataset(project.registry_ports(), made.reference).contract == "eval_cases"


def test_a_second_record_extends_the_draft_and_the_same_one_is_refused(
    folder: Folder, project: Project
) -> None:
    dataset = folder.cases([eval_case("a"), eval_case("b")])
    _, rows = ran(folder, dataset)
    first = add(project, rows[0], dataset, name="failing")
    second = add(project, rows[1], dataset, into=first.reference)
    assert second.reference == first.reference
    assert not second.is_new
    shown = show_dataset(project.registry_ports(), second.reference)
    assert shown.content["accepted"] == 2
    with pytest.raises(ConflictError, match="has a record 'b' already"):
        add(project, rows[1], dataset, into=first.reference)


def test_what_a_run_redacts_is_redacted_in_the_dataset_too(
    folder: Folder, project: Project
) -> None:
    records = [
        {
            "record_id": "a",
            "input": {"prompt": _LETTER},
            "tags": ["mail"],
            "reference": {"answer": "yes"},
        }
    ]
    dataset = folder.document(records)
    _, rows = ran(folder, dataset)
    made = add(project, rows[0], dataset, name="mails")
    assert made.carried == ("source", "redacted")
    kept = json.loads(content(project, made.reference))
    assert kept["records"][0]["input"]["prompt"] == "write to [redacted:email] about it"
    assert kept["records"][0]["tags"] == ["mail"]


def test_a_dataset_that_has_changed_is_not_taken_for_the_one_of_the_run(
    folder: Folder, project: Project
) -> None:
    dataset = folder.document([{"record_id": "a", "input": {"prompt": _LETTER}}])
    _, rows = ran(folder, dataset)
    folder.document([{"record_id": "a", "input": {"prompt": "Something else?"}}])
    made = add(project, rows[0], dataset, name="mails")
    assert made.carried == ("request", "redacted")
    kept = json.loads(content(project, made.reference))["records"][0]
    assert kept["input"]["prompt"] == "write to [redacted:email] about it"
    assert kept["metadata"] == {"from_run": "run_1", "from_record": 0}


def test_without_the_dataset_what_a_document_cannot_hold_is_named(project: Project) -> None:
    row = prediction(
        3,
        record_id="asked",
        request={
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": ["Look:", {"type": "image", "sha256": "0"}]},
            ]
        },
        expected={
            "answers": ["Yes.", "Sure."],
            "outcome": "agrees",
            "criteria": [{"id": "c", "text": "kind", "weight": 1}],
            "choices": ["A"],
        },
    )
    made = add(project, row, None, name="kept")
    assert set(made.carried) == {"request", "joined", "images", "answers", "criteria", "choices"}
    kept = json.loads(content(project, made.reference))["records"][0]
    assert kept["input"]["prompt"] == "system: Be kind.\n\nuser: Look:"
    assert kept["reference"] == {"answer": "Yes."}
    assert kept["metadata"]["outcome"] == "agrees"


def test_a_dataset_that_is_gone_or_shows_files_is_not_read(
    folder: Folder, project: Project
) -> None:
    folder.write("note.txt", "a note")
    shows = {"type": "file", "value": "note.txt"}
    case = eval_case("a", input=[{"role": "user", "content": [shows]}])
    dataset = folder.cases([case])
    _, rows = ran(folder, dataset)
    assert "request" in add(project, rows[0], dataset, name="files").carried
    (folder.root / dataset).unlink()
    assert "request" in add(project, rows[0], dataset, name="gone").carried


def test_a_document_takes_records_of_any_contract_and_others_only_their_own(
    folder: Folder, project: Project
) -> None:
    document = add(project, prediction(0, request=_asked("One?")), None, name="document")
    cases = folder.cases([eval_case("a"), eval_case("b")])
    _, rows = ran(folder, cases)
    assert add(project, rows[0], cases, into=document.reference).carried == ("request",)
    evals = add(project, rows[0], cases, name="evals")
    with pytest.raises(ConflictError, match="holds eval_cases, and this record comes as dataset_"):
        add(project, prediction(0, request=_asked("One?")), None, into=evals.reference)


def test_only_drafts_of_the_database_are_offered(project: Project) -> None:
    made = add(project, prediction(0, request=_asked("One?")), None, name="first")
    assert [one.reference for one in open_drafts(project.registry_ports())] == [made.reference]
    publish_dataset(project.registry_ports(), made.reference)
    assert open_drafts(project.registry_ports()) == []
    with pytest.raises(NotFoundError, match="no dataset that can be changed"):
        add(project, prediction(1, request=_asked("Two?")), None, into=made.reference)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"name": ""}, "name the new dataset"),
        ({"name": "../up"}, "cannot be the name"),
        ({"name": "x", "into": "dataset/y@1"}, "not both"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(
    project: Project, choice: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidError, match=message):
        add(project, prediction(0, request=_asked("One?")), None, **choice)


def test_a_name_that_is_taken_and_a_record_that_asks_nothing_are_refused(
    project: Project,
) -> None:
    add(project, prediction(0, request=_asked("One?")), None, name="first")
    with pytest.raises(ConflictError, match="there is a dataset 'first' already"):
        add(project, prediction(1, request=_asked("Two?")), None, name="first")
    with pytest.raises(InvalidError, match="cannot be kept"):
        add(project, prediction(1, request=None), None, name="nothing")


def test_it_is_logged_who_added_a_record(project: Project) -> None:
    add(project, prediction(0, request=_asked("One?")), None, name="first")
    entries = project.audit_log.list(10)
    assert [(one.verb, one.subject) for one in entries] == [("create_dataset", "dataset/first@1")]


def _asked(text: str) -> dict[str, Any]:
    return {"sent": True, "sha256": "", "messages": [{"role": "user", "content": text}]}
