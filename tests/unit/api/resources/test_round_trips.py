"""What a server shows of its registry can be sent back to it, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from servers.run_service import document, record
from servers.service import served
from steelyard.project import Project, open_project
from steelyard.usecases.datasets.publish_dataset import publish_dataset
from strategies.effort import examples

if TYPE_CHECKING:
    import httpx

CORPUS = Path(__file__).parents[3] / "corpus"
MEDIA = {
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
FILE = "allow: {env: [TEAM_KEY], hosts: [models.internal]}\n"
Row = dict[str, Any]


def rows(required: Row, optional: Row) -> st.SearchStrategy[Row]:
    """Entries of the project file."""
    return st.fixed_dictionaries(required, optional=optional)


SHARE = st.sampled_from([0, 0.5, 1])
SUITES = rows(
    {},
    {
        "dataset": st.sampled_from(["d.jsonl", "dataset/desk@1"]),
        "target": st.sampled_from(["echo", "live"]),
        "rubric": st.just("rubric/mine@1.0.0"),
        "judge": st.just("judge/accuracy@1.0.0"),
        "strict_validation": st.just(False),
        "fail_under": SHARE,
        "pass_threshold": SHARE,
        "require_validated": st.booleans() | st.just({"tpr": 0.9, "sample_size": 50}),
    },
)
TEXTS = st.dictionaries(st.sampled_from(["X-Team", "X-Lane"]), st.sampled_from(["a", "b c"]))
SHARED: Row = {
    "max_concurrency": st.integers(1, 9),
    "requests_per_minute": st.integers(1, 9),
    "price": st.just({"input": 1, "output": 2.5}),
    "prompt": st.just("Answer: {{ input }}"),
    "unsupported": st.sampled_from(["refuse", "omit"]),
    "public_only": st.booleans(),
}
ASKED: Row = {
    **SHARED,
    "headers": TEXTS,
    "api_key_env": st.just("TEAM_KEY"),
    "timeout_s": st.integers(1, 60),
}
ADDRESS = st.sampled_from(["https://1.1.1.1/v1", "http://models.internal/v1"])
TARGETS = st.one_of(
    rows({"provider": st.just("echo")}, SHARED),
    rows(
        {"provider": st.just("openai"), "base_url": ADDRESS, "model": st.just("m-1")},
        {
            **ASKED,
            "temperature": st.sampled_from([0, 0.7]),
            "seed": st.integers(0, 9),
            "response_format": st.just({"type": "json_object"}),
        },
    ),
    rows(
        {"provider": st.just("http"), "url": ADDRESS, "answer": st.just("answer.text")},
        {
            **ASKED,
            "method": st.just("POST"),
            "query": st.just({"lane": "fast"}),
            "body": st.just({"question": "{{ input }}"}),
        },
    ),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    root = tmp_path_factory.mktemp("project")
    (root / "steelyard.yaml").write_text(FILE, encoding="utf-8")
    with open_project(root) as project:
        yield project


@pytest.fixture(scope="module")
def client(project: Project) -> Iterator[httpx.Client]:
    with served(project) as client:
        yield client


def saved(project: Project, kind: str) -> Row:
    """An entry as it is stored."""
    return project.setting_ports().saved.all("suites" if kind == "suites" else "targets")["one"]


@pytest.mark.parametrize("kind", ["suites", "targets"])
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_a_suite_or_target_can_be_sent_back(
    client: httpx.Client, project: Project, kind: str, data: st.DataObject
) -> None:
    row = data.draw(SUITES if kind == "suites" else TARGETS)
    client.put(f"/v1/{kind}/one", json=row).raise_for_status()
    shown, stored = client.get(f"/v1/{kind}/one").json(), saved(project, kind)

    created = client.post(f"/v1/{kind}", json=shown)
    updated = client.put(f"/v1/{kind}/one", json=shown)

    again = client.get(f"/v1/{kind}/one").json()
    left = saved(project, kind)
    assert (created.status_code, updated.status_code) == (200, 200), created.text + updated.text
    assert {**again, "request_id": ""} == {**shown, "request_id": ""}
    # The guard of saved targets decides on `public_only`, whatever is saved.
    kept = {name: value for name, value in stored.items() if name != "public_only"}
    assert {name: left[name] for name in kept} == kept


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"headers": ["X-Other"]}, "'headers' lists 'X-Other', of which no value is saved"),
        ({"hidden": ["body"]}, "'hidden' lists 'body', of which no value is saved"),
        ({"hidden": {"body": 1}}, "'hidden' lists names of settings"),
    ],
)
def test_what_was_never_saved_cannot_stay(
    client: httpx.Client, more: dict[str, Any], message: str
) -> None:
    row = {"provider": "http", "url": "https://1.1.1.1/", "answer": "text", **more}

    answer = client.put("/v1/targets/new", json=row)

    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    assert client.get("/v1/targets/new").status_code == 404


def corpus(*contracts: str) -> list[Any]:
    """Every valid file of some contracts."""
    found = [
        path
        for contract in contracts
        for path in sorted((CORPUS / contract / "valid").rglob("*"))
        if path.suffix in MEDIA and "id" in path.read_text(encoding="utf-8")
    ]
    return [pytest.param(path, id=path.relative_to(CORPUS).as_posix()) for path in found]


@pytest.mark.parametrize(
    ("kind", "contracts"),
    [("rubrics", ("check_rubric", "question_rubric")), ("judges", ("judge",))],
)
def test_the_content_of_a_definition_can_be_sent_back(
    client: httpx.Client, kind: str, contracts: tuple[str, ...]
) -> None:
    tried = 0
    for path in (one.values[0] for one in corpus(*contracts)):
        assert isinstance(path, Path)
        headers = {"content-type": MEDIA[path.suffix]}
        created = client.post(f"/v1/{kind}", content=path.read_bytes(), headers=headers)
        if created.is_error:  # one of a name that another file of the corpus has
            continue
        shown = client.get(f"/v1/{kind}/{created.json()['ref']}").json()
        again = client.post(f"/v1/{kind}", json=shown["content"])

        assert again.status_code == 200, (path, again.text)
        assert again.json()["sha256"] == shown["sha256"], path
        tried += 1
    assert tried > 3


def test_the_file_of_a_dataset_can_be_sent_back(client: httpx.Client) -> None:
    tried = 0
    for path in (one.values[0] for one in corpus("dataset_document", "eval_cases", "legal_eval")):
        assert isinstance(path, Path)
        data, media = path.read_bytes(), MEDIA[path.suffix]
        query = {"name": f"set{tried}{path.suffix}"}
        created = client.post(
            "/v1/datasets", content=data, params=query, headers={"content-type": media}
        )
        if created.is_error:
            continue
        ref, version = created.json()["ref"], created.json()["version"]
        file = client.get(f"/v1/datasets/{ref}/file")
        name = file.headers["content-disposition"].partition('filename="')[2].rstrip('"')
        again = client.post(
            "/v1/datasets",
            content=file.content,
            params={"name": name, "version": version},
            headers={"content-type": file.headers["content-type"].partition(";")[0]},
        )

        first = client.get(f"/v1/datasets/{ref}/file", headers={"range": "bytes=0-3"})
        assert (first.status_code, first.content) == (206, data[:4])
        assert file.content == data
        assert file.headers["etag"] == f'"{created.json()["sha256"]}"'
        assert (again.status_code, again.json()["ref"]) == (200, ref), again.text
        tried += 1
    assert tried > 5


def test_the_file_of_a_published_dataset_may_have_any_name(
    client: httpx.Client, project: Project
) -> None:
    path = project.root / 'größe "x".json'
    body = document([record("a")], dataset_id="sizes")
    path.write_text(json.dumps(body), encoding="utf-8")
    publish_dataset(project.registry_ports(), str(path))

    answer = client.get("/v1/datasets/sizes@1/file")

    assert answer.content == path.read_bytes()
    assert answer.headers["content-disposition"] == (
        "attachment; filename=\"gr__e _x_.json\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%22x%22.json"
    )


def test_a_dataset_that_is_not_there_has_no_file(client: httpx.Client) -> None:
    assert client.get("/v1/datasets/none@1/file").status_code == 404
