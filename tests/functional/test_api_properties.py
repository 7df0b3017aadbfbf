"""Whatever is sent to the API: no answer is a server error, and every answer is documented.

Requests are made from the OpenAPI document, one by one and in sequences that use what an answer
before them has named.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

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
SEQUENCES = [60, pytest.param(300, marks=pytest.mark.soak)]
RUBRIC = "rubric/agrees@1.0"
BODIES: dict[str, Any] = {
    "create_run": {"run": {"dataset": "dataset/desk@2026.1", "target": "echo", "rubric": RUBRIC}},
    "create_queue": {"name": "some", "run_id": "DONE", "rubric": "rubric/asks"},
    "create_user": {"name": "ada", "role": "viewer", "password": "long enough for ada"},
    "create_key": {"name": "nightly", "role": "viewer"},
    "create_trace_set": {
        "messages": [
            {"role": "user", "content": "Say a word."},
            {"role": "assistant", "content": "A word."},
        ]
    },
}
"""What makes something, where the document has no example that can be sent to this project.

`DONE` stands for a finished run.
"""
QUERIES = {"create_trace_set": {"trace_set": "some"}}
Step: TypeAlias = tuple[Any, int]

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
    asks = "name: asks\nversion: asks\nquestions: [{key: good, label: Good?, type: yes_no}]\n"
    (runs.root / "rubrics" / "asks.yaml").write_text(asks, encoding="utf-8")
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


@pytest.mark.parametrize("examples", SEQUENCES)
def test_sequences_of_requests_meet_no_server_error(served: Served, examples: int) -> None:
    """What is sent is drawn before anything is answered: it is the same in every run of the test.

    Each sequence begins with something that is made. What a later request is about is mostly
    something that an answer before it has named.
    """
    steps = st.sampled_from(_makers(served)).flatmap(partial(_steps, served))

    known = Known()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HEALTH, HealthCheck.large_base_example],
    )
    @_given(steps)
    def ask(sequence: tuple[Any, list[Step]]) -> None:
        make, steps = sequence
        for case, choice in [(make(), 0), *steps]:
            known.put_into(case, choice)
            answer = case.call(base_url=served.url, timeout=30)
            case.validate_response(answer, checks=CHECKS)
            known.learn(case, answer)

    ask()


def test_sequences_can_begin_with_anything_that_is_made(served: Served) -> None:
    answers = {
        make.operation.definition.raw["operationId"]: make().call(base_url=served.url, timeout=30)
        for make in sorted(_makers(served), key=lambda one: one.operation.path == "/v1/runs")
    }

    taken = 409  # where another test has made it before
    refused = {
        name: one.text
        for name, one in answers.items()
        if one.status_code >= 400 and one.status_code != taken
    }
    assert not refused
    assert {*BODIES, "create_rubric", "create_dataset", "create_target"} <= set(answers)


def _makers(served: Served) -> list[Maker]:
    """What makes something with a name: the examples of the document, and what it has none for."""
    found: list[Maker] = []
    for item in document(operations())["paths"].values():
        for operation in item.values():
            content = operation.get("requestBody", {}).get("content", {})
            body = content.get("application/json", {}).get("example")
            body = BODIES.get(operation["operationId"], body)
            if body is not None and "post" in item and operation is item["post"]:
                one = served.schema.find_operation_by_id(operation["operationId"])
                text = json.dumps(body).replace("DONE", served.runs.done)
                found.append(Maker(one, json.loads(text)))
    return found


def _steps(served: Served, maker: Maker) -> st.SearchStrategy[tuple[Any, list[Step]]]:
    """Requests after something was made: most about things of its kind, and some of any other."""
    asked = [served.schema.find_operation_by_id(name) for name in _operation_ids()]
    place = f"{maker.operation.path}/"
    near = [one for one in asked if one.path.startswith(place)]
    requests = [
        st.one_of([one.as_strategy() for one in group]) for group in (near, asked) if group
    ]
    step = st.tuples(st.one_of(requests), st.integers(0, 99))
    return st.tuples(st.just(maker), st.lists(step, min_size=2, max_size=6))


class Maker(NamedTuple):
    """A request that makes something."""

    operation: Any
    body: Any

    def __call__(self) -> Any:
        """The request, anew for every sequence."""
        query = QUERIES.get(self.operation.definition.raw["operationId"], {})
        body = deepcopy(self.body)
        return self.operation.Case(body=body, query={**query}, media_type="application/json")


class Known:
    """The names that the links of answers lead on with."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[Any]] = {}

    def put_into(self, case: Any, choice: int) -> None:
        """Ask about something known, except with one choice in ten."""
        if choice % 10 == 9:
            return
        names: list[str] = list(case.path_parameters or {})
        for name in names:
            if known := self._found.get((_id_of(case), name)):
                case.path_parameters[name] = known[choice % len(known)]

    def learn(self, case: Any, answer: Any) -> None:
        """Keep what the links of an answer name."""
        responses = case.operation.definition.raw["responses"]
        for link in responses.get(str(answer.status_code), {}).get("links", {}).values():
            for name, place in link["parameters"].items():
                value = _linked(case, answer, place)
                if value is not None:
                    self._found.setdefault((link["operationId"], name), []).append(value)


def _id_of(case: Any) -> str:
    return case.operation.definition.raw["operationId"]


def _linked(case: Any, answer: Any, place: str) -> Any:
    """The value of a link; None where the answer names nothing."""
    if place.startswith("$request.path."):
        return case.path_parameters[place.removeprefix("$request.path.")]
    value = answer.json()
    for part in place.removeprefix("$response.body#/").split("/"):
        key = int(part) if part.isdecimal() else part
        try:
            value = value[key]
        except (KeyError, IndexError):
            return None
    return value
