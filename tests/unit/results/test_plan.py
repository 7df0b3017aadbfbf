"""What a store keeps of a run to resume it, written and read again, also by other versions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET, ValidationError, structs

from fakes.manifests import manifest_row
from fakes.plans import plan, plan_row
from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.errors import NotFoundError
from steelyard.results.plan import PlannedRedaction, PlannedRubric, read_plan
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.settings import RedactionRules


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode("ascii")


def test_what_is_kept_is_read_again(project: Project) -> None:
    ports = project.ports(ScriptedTarget())
    run = project.run(ports, project.cases([row("a")]), repeat=2)
    kept = require_plan(ports.repository.find(run.run_id))

    assert read_plan(encoded(kept.json())) == kept
    assert (kept.options.repeat, kept.selected) == (2, 1)
    assert kept.setup
    assert kept.setup.targets == kept.targets == {"scripted": {"provider": "scripted"}}
    assert list(kept.json())[-5:] == ["graders", "selected", "valid", "rows", "secret"]


def test_the_plan_of_a_pruned_run_is_gone() -> None:
    run = StoredRun(
        run_id="run_1", status="completed", created_at="", dataset="d", plan=read_plan(b"{}")
    )

    with pytest.raises(NotFoundError, match="run_1 was pruned; only its line"):
        require_plan(run)


def test_a_plan_of_an_earlier_version_lacks_newer_fields() -> None:
    found = plan()

    assert (found.judges, found.programs, found.redacted, found.setup) == (UNSET,) * 4
    assert (found.is_sound, found.selected, found.secret) == (False, None, None)
    assert found.json() == {
        **plan_row(),
        "options": found.options.json(),
        "is_sound": False,
        "selected": None,
        "valid": None,
        "rows": None,
        "secret": None,
    }


@pytest.mark.parametrize(
    ("kept", "rules"),
    [
        (UNSET, RedactionRules()),
        ((), RedactionRules(patterns=())),
        (("email", "ssn"), RedactionRules(patterns=("email",))),
        (PlannedRedaction(patterns=("email",)), RedactionRules(patterns=("email",))),
    ],
)
def test_earlier_versions_kept_patterns_alone_or_nothing(kept: Any, rules: RedactionRules) -> None:
    assert RedactionRules.planned(kept) == rules


def test_the_first_version_kept_one_rubric() -> None:
    found = plan(rubric={"name": "rubric/a@1.0.0", "sha256": "ab"})

    assert found.rubric == PlannedRubric(name="rubric/a@1.0.0", sha256="ab")


def test_a_plan_of_a_later_version_has_fields_that_are_not_known() -> None:
    later = plan(colour="red", options={"speed": 3}, about={**manifest_row(), "carbon": 3})

    assert later == plan(about=manifest_row())


def test_what_an_earlier_version_has_hidden_in_a_plan_is_empty() -> None:
    found = plan(about=manifest_row(source="[redacted:source]"))

    assert found.setup
    assert found.setup.source == {}


def test_something_else_is_no_plan() -> None:
    with pytest.raises(ValidationError):
        read_plan(b'{"a": 1}')


def test_rows_of_an_earlier_version_are_records_times_repeats() -> None:
    found = plan()
    options = structs.replace(found.options, repeat=3)

    assert found.total_rows is None
    assert structs.replace(found, options=options, selected=2).total_rows == 6
    assert structs.replace(found, options=options, selected=2, rows=4).total_rows == 4
