"""Whatever is sent to the API: no answer is a server error, and every answer is documented.

Requests are made from the OpenAPI document, one by one and in sequences that use what an answer
before them has named.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as _given
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import checks as common_checks
from schemathesis.specs.openapi import checks

from fakes.served_runs import ServedRuns, make_runs
from servers.service import running
from steelyard.api.application import operations
from steelyard.api.openapi import document
from steelyard.project import open_project

_COMMON: Any = common_checks
_KNOWN: Any = checks
CHECKS: list[Any] = [
    _COMMON.not_a_server_error,
    _KNOWN.status_code_conformance,
    _KNOWN.content_type_conformance,
    _KNOWN.response_headers_conformance,
    _KNOWN.response_schema_conformance,
]
HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
ENDLESS = ("get_run_events",)
"""Streams, which have tests of their own."""
EXAMPLES = [15, pytest.param(300, marks=pytest.mark.soak)]

pytestmark = [pytest.mark.trials, pytest.mark.no_cover]


class Served:
    """A server, the runs that it serves and the document of its API."""

    def __init__(self, url: str, runs: ServedRuns) -> None:
        self.url = url
        self.runs = runs
        self.schema: Any = schemathesis.openapi.from_dict(_with_names(runs))


def _with_names(runs: ServedRuns) -> dict[str, Any]:
    """The document, in which the ids of runs that exist are examples."""
    made = document(operations())
    names = [runs.done, runs.stopped, runs.without_records, runs.gone, "latest", "nobody"]
    for item in made["paths"].values():
        for operation in item.values():
            for parameter in operation["parameters"]:
                if parameter["name"] == "run_id":
                    parameter["schema"] = {"type": "string", "enum": names}
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server whose project has runs in every condition."""
    runs = make_runs(Path(tmp_path_factory.mktemp("properties")))
    with open_project(runs.root) as project, running(project) as url:
        yield Served(url, runs)


def _operation_ids() -> list[str]:
    found = [
        operation["operationId"]
        for item in document(operations())["paths"].values()
        for operation in item.values()
    ]
    return [name for name in found if name not in ENDLESS]


@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("name", _operation_ids())
def test_every_answer_is_documented_and_no_server_error(
    served: Served, name: str, examples: int
) -> None:
    operation = served.schema.find_operation_by_id(name)

    for mode in schemathesis.GenerationMode:

        @settings(
            max_examples=examples,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=HEALTH,
        )
        @_given(operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            case.call_and_validate(base_url=served.url, checks=CHECKS, timeout=30)

        # Where nothing is read, nothing can be wrong.
        with suppress(Unsatisfiable):
            ask()


@pytest.mark.parametrize("examples", EXAMPLES)
def test_sequences_of_requests_meet_no_server_error(served: Served, examples: int) -> None:
    """What is sent is drawn before anything is answered: it is the same in every run of the test.

    Only the run that a request is about is one that an answer before it has named.
    """
    asked = [served.schema.find_operation_by_id(name) for name in _operation_ids()]
    requests = st.one_of([operation.as_strategy() for operation in asked])
    steps = st.lists(st.tuples(requests, st.integers(0, 99)), min_size=2, max_size=6)

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HEALTH, HealthCheck.large_base_example],
    )
    @_given(steps)
    def ask(sequence: list[tuple[Any, int]]) -> None:
        known: list[str] = []
        for case, choice in sequence:
            if known and "run_id" in (case.path_parameters or {}):
                case.path_parameters["run_id"] = known[choice % len(known)]
            answer = case.call(base_url=served.url, timeout=30)
            case.validate_response(answer, checks=CHECKS)
            known += _named_runs(answer)

    ask()


def _named_runs(answer: Any) -> list[str]:
    """The runs that an answer names: one, or those of a list."""
    if "application/json" not in answer.headers.get("content-type", [""])[0]:
        return []
    body: Any = answer.json()
    if not isinstance(body, dict):
        return []
    named: dict[str, Any] = {**body}
    rows: list[Any] = [named, *(named.get("data") or [])]
    return [row["run_id"] for row in rows if isinstance(row, dict) and "run_id" in row]
