"""Suites and targets over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fakes.definitions import RUBRIC
from fakes.projects import Project as Folder
from fakes.projects import row
from servers.service import served
from steelyard.project import Project, open_project
from steelyard.usecases.results.audit_log import list_changes

if TYPE_CHECKING:
    import httpx

FILE = """\
targets:
  mine:
    provider: http
    url: "https://user:hush-1@models.example/ask"
    headers: {Authorization: "Bearer hush-2", X-Team: "${TEAM:-hush-3}"}
    query: {key: hush-4}
    prompt: "${WORDS:-hush-5} {{ input }}"
  run: {provider: command, command: [sh, -c, hush-6], env: {A: hush-7}}
suites: {nightly: {dataset: d.jsonl, target: echo}}
allow: {env: [TEAM_KEY], hosts: [127.0.0.1, models.internal]}
"""
LIVE: dict[str, Any] = {
    "name": "live",
    "provider": "openai",
    "base_url": "https://1.1.1.1/v1",
    "model": "m-1",
    "api_key_env": "TEAM_KEY",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = Folder(tmp_path_factory.mktemp("project"), FILE)
    folder.cases([row("a")])
    folder.write("rubrics/mine@1.0.0.yaml", RUBRIC.format(id="mine", version="1.0.0"))
    with open_project(folder.root) as project:
        yield project


@pytest.fixture(scope="module")
def client(project: Project) -> Iterator[httpx.Client]:
    with served(project) as client:
        yield client


HALF = """\
{"dataset_id": "half", "dataset_version": "1", "schema_version": "1.0", "records": [
  {"record_id": "a", "input": {"prompt": "Hi"}},
  {"record_id": "b", "input": {}}
]}
"""
TYPO = """\
version: 1.0.0
questions:
  - {id: a, input: Hi, expecteed_facts: [Hello]}
"""


def _save_datasets(client: httpx.Client, project: Project) -> None:
    """The same datasets as files of the project and in the store."""
    for name, text in (("half.json", HALF), ("typo.yaml", TYPO)):
        (project.root / name).write_text(text, encoding="utf-8")
        media = {"content-type": f"application/{name.rpartition('.')[2]}"}
        saved = client.post("/v1/datasets", content=text, headers=media, params={"name": name})
        assert saved.status_code in {200, 201}, saved.text


class TestSuites:
    def test_a_suite_is_saved_read_changed_and_removed(self, client: httpx.Client) -> None:
        suite = {"name": "weekly", "dataset": "d.jsonl", "target": "echo", "fail_under": 0.5}

        created = client.post("/v1/suites", json=suite)
        again = client.post("/v1/suites", json=suite)
        clash = client.post("/v1/suites", json={**suite, "fail_under": 0.6})
        changed = client.put("/v1/suites/weekly", json={**suite, "fail_under": 0.7})
        shown = client.get("/v1/suites/weekly").json()
        listed = client.get("/v1/suites").json()["data"]
        removed = client.delete("/v1/suites/weekly")

        assert (created.status_code, again.status_code, changed.status_code) == (201, 200, 200)
        assert clash.status_code == 409
        assert (shown["fail_under"], shown["origin"], shown["dataset"]) == (
            0.7,
            "store",
            "d.jsonl",
        )
        assert [(one["name"], one["origin"]) for one in listed] == [
            ("nightly", "file"),
            ("weekly", "store"),
        ]
        assert (removed.status_code, removed.content) == (204, b"")
        assert client.get("/v1/suites/weekly").status_code == 404
        assert client.delete("/v1/suites/weekly").status_code == 404

    @pytest.mark.parametrize(
        ("part", "value", "code"),
        [
            ("dataset", "none.jsonl", "missing_file"),
            ("dataset", "dataset/none@1", "dangling_reference"),
            ("dataset", "bad.jsonl", "missing_required_field"),
            ("target", "mnie", "dangling_reference"),
            ("rubric", "rubric/none@1.0.0", "dangling_reference"),
            ("rubric", "rubrics/none.yaml", "dangling_reference"),
            ("rubric", "a b", "dangling_reference"),
            ("rubric", "document.json", "dangling_reference"),
            ("judge", "document.json", "dangling_reference"),
            ("rubric", "d.jsonl", "dangling_reference"),
            ("judge", "judge/none@1.0.0", "dangling_reference"),
        ],
    )
    def test_what_is_wrong_with_a_part_is_a_warning_or_in_strict_mode_an_error(
        self, client: httpx.Client, project: Project, part: str, value: str, code: str
    ) -> None:
        (project.root / "bad.jsonl").write_text('{"id": "a"}\n', encoding="utf-8")
        (project.root / "document.json").write_text('{"records": []}', encoding="utf-8")
        suite = {"name": "parts", "dataset": "d.jsonl", part: value}

        strict = client.post("/v1/suites", json=suite, params={"strict": True})
        itself = client.post("/v1/suites", json={**suite, "strict_validation": True})
        nothing = client.get("/v1/suites/parts")
        soft = client.post("/v1/suites", json=suite)
        client.delete("/v1/suites/parts")

        assert (strict.status_code, itself.status_code, nothing.status_code) == (400, 400, 404)
        for findings, severity in (
            (strict.json()["error"]["details"]["findings"], "error"),
            (soft.json()["findings"], "warning"),
        ):
            found = [(one["path"], one["code"], one["severity"]) for one in findings]
            assert (part, code, severity) in found
        assert soft.status_code == 201
        assert not any(str(project.root) in answer.text for answer in (strict, itself, soft))

    @pytest.mark.parametrize(
        ("dataset", "code"),
        [
            ("half.json", "missing_required_field"),
            ("dataset/half@1", "missing_required_field"),
            ("typo.yaml", "unknown_field"),
            ("dataset/typo@1.0.0", "unknown_field"),
        ],
    )
    def test_records_of_a_saved_dataset_are_checked_as_those_of_a_file(
        self, client: httpx.Client, project: Project, dataset: str, code: str
    ) -> None:
        _save_datasets(client, project)
        suite = {"name": "stored", "dataset": dataset, "target": "echo"}

        strict = client.post("/v1/suites", json=suite, params={"strict": True})
        itself = client.post("/v1/suites", json={**suite, "strict_validation": True})
        nothing = client.get("/v1/suites/stored")
        soft = client.post("/v1/suites", json=suite)
        client.delete("/v1/suites/stored")

        assert (strict.status_code, itself.status_code, nothing.status_code) == (400, 400, 404)
        assert soft.status_code == 201
        for findings, severity in (
            (strict.json()["error"]["details"]["findings"], "error"),
            (itself.json()["error"]["details"]["findings"], "error"),
            (soft.json()["findings"], "warning"),
        ):
            (found,) = findings
            assert (found["path"], found["code"], found["severity"]) == ("dataset", code, severity)
            assert found["message"].startswith(dataset)
        assert not any(str(project.root) in answer.text for answer in (strict, itself, soft))

    def test_a_suite_without_fault_has_no_findings(self, client: httpx.Client) -> None:
        suite = {"name": "whole", "dataset": "d.jsonl", "target": "echo"}
        parts = {"rubric": "rubric/mine@1.0.0", "judge": "judge/accuracy@1.0.0"}

        answer = client.post("/v1/suites", json={**suite, **parts}, params={"strict": True})

        assert (answer.status_code, answer.json()["findings"]) == (201, [])

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"name": "nightly"}, 409),
            ({"dataset": "d.jsonl"}, 400),
            ({"name": 5}, 400),
            ({"name": ""}, 400),
            ({"name": "a/b"}, 400),
            ({"name": "x", "datset": "d"}, 400),
            ({"name": "x", "dataset": "../d.jsonl"}, 400),
            ({"name": "x", "dataset": "/etc/passwd"}, 400),
            ({"name": "x", "dataset": "${HOME}"}, 400),
            ({"name": "x", "dataset": "a" * 5000}, 400),
            ({"name": "x", "rubric": f"{'a' * 5000}.yaml"}, 400),
            ({"name": "x", "dataset": "a\0b"}, 400),
            ({"name": "x", "fail_under": "much"}, 400),
            ([], 400),
            (None, 400),
        ],
    )
    def test_what_is_no_suite_is_refused(
        self, client: httpx.Client, body: Any, status: int
    ) -> None:
        assert client.post("/v1/suites", json=body).status_code == status

    def test_a_suite_of_the_file_is_read_only(self, client: httpx.Client) -> None:
        assert client.put("/v1/suites/nightly", json={}).status_code == 409
        assert client.delete("/v1/suites/nightly").status_code == 409


class TestTargets:
    def test_a_target_is_saved_read_changed_and_removed(
        self, client: httpx.Client, project: Project
    ) -> None:
        created = client.post("/v1/targets", json=LIVE)
        clash = client.post("/v1/targets", json={**LIVE, "model": "m-2"})
        changed = client.put("/v1/targets/live", json={**LIVE, "model": "m-2"})
        shown = client.get("/v1/targets/live").json()
        removed = client.delete("/v1/targets/live")

        statuses = (created.status_code, clash.status_code, changed.status_code)
        assert (*statuses, removed.status_code) == (201, 409, 200, 204)
        assert (shown["model"], shown["origin"], shown["public_only"]) == ("m-2", "store", True)
        assert {**changed.json(), "request_id": shown["request_id"]} == shown
        assert created.json()["public_only"] is True
        verbs = [one.verb for one in list_changes(project.audit_log).entries[:3]]
        assert verbs == ["delete_target", "save_target", "save_target"]

    def test_no_answer_shows_a_secret(self, client: httpx.Client) -> None:
        answers = [client.get("/v1/targets"), client.get("/v1/targets/mine")]

        assert answers[1].json()["headers"] == ["Authorization", "X-Team"]
        assert all("hush" not in answer.text for answer in answers)

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"provider": "command", "command": ["sh"]}, "only steelyard.yaml may define"),
            ({"provider": "python", "callable": "os:system"}, "only steelyard.yaml may define"),
            ({"provider": "a-plug-in"}, "only steelyard.yaml may define"),
            ({"provider": "command", "argv": ["sh"]}, "only steelyard.yaml may define"),
            (
                {"provider": "http", "ulr": "https://x"},
                "targets.bad.ulr is not a field of a target",
            ),
            ({**LIVE, "ca_file": "ca.pem"}, "'ca_file'"),
            ({**LIVE, "headers": {"X-Team": "${HOME}"}}, "${NAME}"),
            ({**LIVE, "api_key_env": "HOME"}, "not listed in allow.env"),
            ({**LIVE, "base_url": "ftp://1.1.1.1"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://1.1.1.1:99999"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://[2606:4700::1%25eth0]/v1"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://[2606:4700::1%eth0]/v1"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://a..example.org/"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://exa mple.org/"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://-a.example.org/"}, "is no http(s) address"),
            ({**LIVE, "base_url": "http://a%2eexample.org/"}, "is no http(s) address"),
            ({**LIVE, "base_url": f"http://{'a' * 64}.example.org/"}, "is no http(s) address"),
            ({**LIVE, "headers": {"a\r\nb": "c"}}, "'a\\r\\nb' has characters that no header"),
            ({**LIVE, "headers": {"X-A": "b\r\nX-C: d"}}, "'X-A' has characters that no header"),
            ({**LIVE, "base_url": 5}, "base_url"),
        ],
    )
    def test_what_only_the_project_file_may_define_is_refused(
        self, client: httpx.Client, row: dict[str, Any], message: str
    ) -> None:
        answer = client.post("/v1/targets", json={**row, "name": "bad"})

        assert answer.status_code == 400
        assert message in answer.json()["error"]["message"]

    @pytest.mark.parametrize(
        "host",
        [
            *("127.0.0.2", "127.1", "2130706434", "0x7f.2", "0177.0.0.2", "localhost", "0.0.0.0"),
            *("10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
            *(
                "[::1]",
                "[::]",
                "[::ffff:10.0.0.1]",
                "[::ffff:a9fe:a9fe]",
                "[fe80::1]",
                "[fd00::1]",
            ),
            *("[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "[fec0::1]", "[ff02::1]"),
            *("224.0.0.1", "255.255.255.255", "240.0.0.1", "LOCALHOST.", "ⓛocalhost"),
        ],
    )
    @pytest.mark.parametrize(("provider", "key"), [("openai", "base_url"), ("http", "url")])
    def test_an_address_of_the_machine_or_its_network_is_refused(
        self, client: httpx.Client, host: str, provider: str, key: str
    ) -> None:
        row = {"name": "bad", "provider": provider, key: f"http://{host}:8000/v1", "model": "m"}

        answer = client.post("/v1/targets", json=row)

        assert answer.status_code == 400
        assert "not a public address" in answer.json()["error"]["message"]

    @pytest.mark.parametrize("host", ["127.0.0.1", "1.1.1.1", "[2606:4700::1111]", "no.example"])
    def test_public_hosts_and_those_on_the_list_are_allowed(
        self, client: httpx.Client, host: str
    ) -> None:
        answer = client.put(
            "/v1/targets/good", json={**LIVE, "name": "good", "base_url": f"http://{host}/"}
        )

        assert answer.status_code in {200, 201}
        shown = client.get("/v1/targets/good").json()
        assert shown.get("public_only") is (None if host == "127.0.0.1" else True)


def test_a_body_that_is_not_utf8_is_refused(client: httpx.Client) -> None:
    headers = {"content-type": "application/json"}
    answer = client.post("/v1/suites", content=b'{"name": "\xff"}', headers=headers)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_request"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/v1/suites", "{…}"), ("/v1/runs/run_1/regrade", '{"rubric": …}')],
)
def test_an_empty_body_is_named_with_what_is_expected(
    client: httpx.Client, path: str, expected: str
) -> None:
    headers = {"content-type": "application/json"}

    for content in ("", " \n"):
        answer = client.post(path, content=content, headers=headers)

        assert answer.status_code == 400
        message = answer.json()["error"]["message"]
        assert message == f"the body is empty; expected JSON: {expected}"
