"""Whatever is sent to the API: no answer is a server error, and every answer is documented.

Requests are made from the OpenAPI document, one by one and in sequences that use what an answer
before them has named.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as _given
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fakes.served_runs import ServedRuns, make_runs
from servers.service import running
from steelyard.api.application import operations
from steelyard.api.openapi import document
from steelyard.project import open_project

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
ENDLESS = ("get_run_events",)
"""Streams, which have tests of their own."""
EXAMPLES = int(os.environ.get("STEELYARD_API_EXAMPLES", "15"))

pytestmark = [pytest.mark.trials, pytest.mark.no_cover]


class Served:
    """A server, the runs that it serves and the document of its API."""

    def __init__(self, url: str, runs: ServedRuns) -> None:
        self.url = url
        self.runs = runs
        self.schema = schemathesis.openapi.from_dict(_with_names(runs))


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


@pytest.mark.parametrize("name", _operation_ids())
def test_every_answer_is_documented_and_no_server_error(served: Served, name: str) -> None:
    operation = served.schema.find_operation_by_id(name)

    for mode in schemathesis.GenerationMode:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @_given(operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            case.call_and_validate(base_url=served.url, checks=CHECKS, timeout=30)

        ask()
