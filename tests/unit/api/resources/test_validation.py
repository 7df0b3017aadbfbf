"""Files and schemas over HTTP: what `validate` and `schema` say, a server says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from servers.service import served
from steelyard.contracts.published_schemas import Schemas
from steelyard.plugins import installed_checks, installed_contracts
from steelyard.project import open_project
from steelyard.reports.findings import findings_json
from steelyard.store.workspace import DiskWorkspace
from steelyard.usecases.datasets.validate import ValidateOptions, validate

if TYPE_CHECKING:
    import httpx

    from steelyard.usecases.registry.references import References

CORPUS = Path(__file__).parents[3] / "corpus"
ENDINGS = {".json": "application/json", ".yaml": "application/yaml", ".yml": "application/yaml"}
MEDIA = {**ENDINGS, ".jsonl": "application/x-ndjson"}
RUBRIC = {
    "name": "Quality",
    "version": "quality-v1",
    "questions": [{"key": "good", "type": "yes"}],
}


def files() -> list[Path]:
    """The files of the corpus that stand alone."""
    found = [path for path in sorted(CORPUS.rglob("*")) if path.suffix in MEDIA]
    return [path for path in found if path.name != "steelyard.yaml" and not _shows_files(path)]


def _shows_files(path: Path) -> bool:
    has_sidecar = any(path.with_suffix(one).is_file() for one in MEDIA if one != path.suffix)
    data = path.read_bytes()
    return has_sidecar or any(word in data for word in (b"file", b"image", b"attachments"))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server of an empty project."""
    with open_project(tmp_path_factory.mktemp("project")) as project, served(project) as client:
        yield client


def post(client: httpx.Client, data: bytes, media: str, **query: Any) -> httpx.Response:
    return client.post("/v1/validate", content=data, params=query, headers={"content-type": media})


DECOMPOSED = [
    "invalid/duplicate_ids_in_two_normal_forms.json",
    "valid/decomposed_text.json",
]
"""Texts that arrive over HTTP must be in NFC; a file of a project is normalized."""


def _same(known: References, _path: Path) -> References:
    return known


@pytest.mark.trials
@pytest.mark.parametrize("strict", [False, True])
def test_a_server_says_of_a_file_what_the_command_says(
    client: httpx.Client, tmp_path: Path, strict: bool
) -> None:
    options = ValidateOptions(strict=strict)
    disk, checks, contracts = DiskWorkspace(tmp_path), installed_checks(), installed_contracts()
    references = partial(_same, open_project(tmp_path).references())
    differing: list[str] = []
    for number, path in enumerate(files()):
        copy = tmp_path / str(number) / path.name
        copy.parent.mkdir()
        copy.write_bytes(path.read_bytes())
        report = validate(*(disk, [str(copy)], options, checks, references), contracts=contracts)
        said = json.loads(findings_json(report.files))["files"][0]
        media = MEDIA[path.suffix]
        answer = post(client, path.read_bytes(), media, name=path.name, strict=strict).json()
        answer.pop("request_id")
        text = json.dumps({**said, "path": path.name}).replace("\\ud800", "\\ufffd")
        if json.loads(text) != answer:
            differing.append(f"{path.parent.name}/{path.name}")

    assert len(files()) > 50
    assert differing == DECOMPOSED


@pytest.mark.parametrize(
    ("media", "data", "contract"),
    [
        ("application/json", json.dumps(RUBRIC).encode(), "question_rubric"),
        ("application/yaml", b"id: a\nversion: '1.0'\ntemplate: '{{ output }}'\n", "judge"),
        ("application/x-ndjson", b'{"id": "a", "expected_outcome": "b"}\n', "eval_cases"),
    ],
)
def test_the_content_type_says_how_a_file_is_read(
    client: httpx.Client, media: str, data: bytes, contract: str
) -> None:
    answer = post(client, data, f"{media}; charset=utf-8")

    assert answer.status_code == 200
    assert answer.json()["contract"] == contract


@pytest.mark.parametrize(
    ("data", "media", "code"),
    [
        (b"[" * 1_000_000, "application/json", "unsupported_format"),
        (b"[" * 100_000, "application/yaml", "invalid_yaml"),
        (b'{"a": "\xff"}', "application/json", "unsupported_format"),
        (b"", "application/json", "unsupported_format"),
        (b'{"a": NaN}', "application/json", "invalid_json"),
        (
            b'{"questions": [' + b"[]," * 4_000_000 + b"[]]}",
            "application/json",
            "payload_too_large",
        ),
        (
            b"a: &a [x]\n" + b"b: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n" * 2,
            "application/yaml",
            "invalid_yaml",
        ),
    ],
)
def test_what_cannot_be_read_is_a_finding(
    client: httpx.Client, data: bytes, media: str, code: str
) -> None:
    answer = post(client, data, media)

    assert answer.status_code == 200
    assert [one["code"] for one in answer.json()["findings"]] == [code]


def test_an_alias_bomb_is_refused(client: httpx.Client) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    answer = post(client, "\n".join(lines).encode(), "application/yaml")

    assert "aliases stand for" in answer.json()["findings"][0]["message"]


@pytest.mark.parametrize(
    ("media", "query", "status", "message"),
    [
        ("text/plain", {}, 400, "the content type must be one of"),
        ("", {}, 400, "the content type must be one of"),
        ("application/octet-stream", {}, 400, "name must be that of a file"),
        ("application/json", {"name": "../x.json"}, 400, "name must be that of a file"),
        ("application/json", {"name": "x.exe"}, 400, "name must be that of a file"),
        ("application/json", {"kind": "song"}, 400, "unknown kind 'song'"),
        ("application/json", {"stric": "true"}, 400, "stric"),
        ("application/json", {"strict": "maybe"}, 400, "strict"),
    ],
)
def test_a_malformed_request_is_refused(
    client: httpx.Client, media: str, query: dict[str, str], status: int, message: str
) -> None:
    answer = post(client, b"{}", media, **query)

    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]


def test_a_file_of_too_many_bytes_is_refused(client: httpx.Client) -> None:
    answer = post(client, b"#" * (8 * 1024 * 1024 + 1), "application/yaml")

    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "payload_too_large"


def test_a_large_file_is_read_whole(client: httpx.Client) -> None:
    rows = [{"id": f"r{n}", "expected_outcome": "x" * 500, "input": "?"} for n in range(5000)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()

    answer = post(client, data, "application/x-ndjson", name="many.jsonl").json()

    assert (answer["contract"], answer["total"], answer["accepted"]) == ("eval_cases", 5000, 5000)


def test_every_schema_is_served_under_its_own_address(client: httpx.Client) -> None:
    names = Schemas(installed_contracts()).names

    assert {"dataset", "rubric", "judge"} <= set(names)
    for name in names:
        answer = client.get(
            f"/schemas/{name}.schema.json", headers={"origin": "https://a.example"}
        )
        assert answer.status_code == 200
        assert answer.json()["$id"] == str(answer.request.url)
        assert answer.headers["access-control-allow-origin"] == "*"


def test_schemas_need_no_login_and_name_the_public_address(tmp_path: Path) -> None:
    url = "https://evals.example.com"
    settings = {"has_login": True, "public_url": url}
    with open_project(tmp_path) as project, served(project, **settings) as client:
        answer = client.get("/schemas/rubric.schema.json")
        other = client.get("/schemas/song.schema.json")

    assert answer.json()["$id"] == f"{url}/schemas/rubric.schema.json"
    assert other.status_code == 404


def test_a_file_with_endless_errors_is_not_validated_to_its_end(client: httpx.Client) -> None:
    answer = client.post(
        "/v1/validate",
        params={"name": "many.jsonl"},
        content=b"{}\n" * 50_000,
        headers={"content-type": "application/x-ndjson"},
    )

    body = answer.json()
    assert answer.status_code == 200
    assert not body["valid"]
    assert len(body["findings"]) < 11_000
    assert "was not validated" in body["findings"][-1]["message"]
