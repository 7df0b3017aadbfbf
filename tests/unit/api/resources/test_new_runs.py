"""Start runs over HTTP: contract 2, sentence by sentence."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Generator
from typing import Any

import pytest

from servers.run_service import RunService, document, record, run_service, write_project
from steelyard.contracts.dataset_document.reader import DatasetDocumentReading
from steelyard.usecases.operations import readiness
from steelyard.usecases.runs import posted_runs

CODES = {
    *("missing_required_field", "invalid_field_type", "value_out_of_range", "string_too_long"),
    *("invalid_enum_value", "duplicate_record_id", "record_too_large", "invalid_encoding"),
    "unsupported_field",
}
DEEP: Any = {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}
GOOD = record("good")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunService]:
    root = tmp_path_factory.mktemp("posted")
    write_project(root)
    with run_service(root) as running:
        yield running


def test_a_posted_document_is_accepted_and_evaluated(service: RunService) -> None:
    answer = service.post(document([record("a"), record("b", "none")]))

    body = answer.json()
    assert answer.status_code == 202
    assert body == {
        "run_id": body["run_id"],
        "status": "accepted",
        "summary": {"total_records": 2, "accepted_records": 2, "rejected_records": 0},
        "record_errors": [],
        "request_id": answer.headers["x-request-id"],
    }
    run = service.when(body["run_id"])
    assert run["status"] == "completed"
    assert run["dataset_id"] == "posted"
    assert [one["state"] for one in run["states"]] == [
        *("queued", "validating", "running", "finalizing", "completed")
    ]
    assert run["created_at"] <= run["started_at"] <= run["completed_at"]
    assert (run["summary"]["pass_count"], run["summary"]["fail_count"]) == (1, 1)


def test_malformed_records_are_listed_and_the_others_evaluated(service: RunService) -> None:
    answer = service.post(document([GOOD, record("q_0002", 3), record("c")]))

    body = answer.json()
    assert answer.status_code == 202
    assert body["status"] == "accepted_with_record_errors"
    assert body["summary"] == {"total_records": 3, "accepted_records": 2, "rejected_records": 1}
    assert body["record_errors"] == [
        {
            "index": 1,
            "record_id": "q_0002",
            "code": "invalid_field_type",
            "message": "input.prompt must be a string",
            "path": "records[1].input.prompt",
            "severity": "error",
        }
    ]
    run = service.when(body["run_id"])
    assert run["status"] == "completed_with_failures"
    assert run["summary"]["invalid_records"] == 1
    assert run["summary"]["evaluated_records"] == 2


@pytest.mark.parametrize(
    ("bad", "code", "path"),
    [
        ({"input": {"prompt": "x"}}, "missing_required_field", "records[1].record_id"),
        ({"record_id": "b"}, "missing_required_field", "records[1].input"),
        ({"record_id": "b", "input": {}}, "missing_required_field", "records[1].input.prompt"),
        ({"record_id": "b", "input": "x"}, "invalid_field_type", "records[1].input"),
        ({"record_id": 7, "input": {"prompt": "x"}}, "invalid_field_type", "records[1].record_id"),
        (
            {"record_id": "", "input": {"prompt": "x"}},
            "value_out_of_range",
            "records[1].record_id",
        ),
        (record("b" * 129), "string_too_long", "records[1].record_id"),
        (record("b", ""), "value_out_of_range", "records[1].input.prompt"),
        (record("b", "x" * 200_001), "string_too_long", "records[1].input.prompt"),
        (record("b", "x\u0000y"), "invalid_encoding", "records[1].input.prompt"),
        (record("b", "x\u0007y"), "invalid_encoding", "records[1].input.prompt"),
        (record("good"), "duplicate_record_id", "records[1].record_id"),
        ({**record("b"), "tags": ["t"] * 33}, "value_out_of_range", "records[1].tags"),
        ({**record("b"), "tags": [""]}, "value_out_of_range", "records[1].tags[0]"),
        ({**record("b"), "tags": ["t" * 65]}, "string_too_long", "records[1].tags[0]"),
        ({**record("b"), "tags": [1]}, "invalid_field_type", "records[1].tags[0]"),
        (
            {**record("b"), "reference": {"answer": "x" * 200_001}},
            *("string_too_long", "records[1].reference.answer"),
        ),
        (
            {**record("b"), "expected": {"max_latency_ms": 0}},
            *("value_out_of_range", "records[1].expected.max_latency_ms"),
        ),
        (
            {**record("b"), "expected": {"max_latency_ms": 120_001}},
            *("value_out_of_range", "records[1].expected.max_latency_ms"),
        ),
        (
            {**record("b"), "expected": {"required_criteria": ["beauty"]}},
            *("invalid_enum_value", "records[1].expected.required_criteria[0]"),
        ),
        ({**record("b"), "metadata": DEEP}, "value_out_of_range", "records[1].metadata"),
        (
            {**record("b"), "metadata": {"a": "x" * 8192}},
            *("record_too_large", "records[1].metadata"),
        ),
        (
            {**record("b", "x" * 150_000), "extra": "y" * 120_000},
            *("record_too_large", "records[1]"),
        ),
        ("text", "invalid_field_type", "records[1]"),
        (None, "invalid_field_type", "records[1]"),
    ],
)
def test_each_rule_for_records_has_its_code(
    service: RunService, bad: Any, code: str, path: str
) -> None:
    body = service.post(document([GOOD, bad])).json()

    found = [(one["code"], one["path"]) for one in body["record_errors"]]
    assert (code, path) in found
    assert {one["code"] for one in body["record_errors"]} <= CODES
    assert all(
        list(one) == ["index", "record_id", "code", "message", "path", "severity"]
        for one in body["record_errors"]
    )


LARGE = {"record_id": "b", "input": {"prompt": "x" * 200_000}, "metadata": {"a": "x" * 8_183}}
DEEPEST: Any = {"a": {"b": {"c": {"d": {"e": 1}}}}}


@pytest.mark.parametrize(
    "most",
    [
        record("b" * 128),
        record("b", "x" * 200_000),
        {**record("b"), "reference": {"answer": "x" * 200_000}},
        {**record("b"), "tags": ["t" * 64] * 32},
        {**record("b"), "metadata": {"a": "x" * 8_183}},
        {**record("b"), "metadata": DEEPEST},
        {**record("b"), "expected": {"max_latency_ms": 1}},
        {**record("b"), "expected": {"max_latency_ms": 120_000}},
        {
            **record("b"),
            "expected": {
                "required_criteria": ["accuracy", "clarity", "reasoning", "factuality", "overall"]
            },
        },
        {**LARGE, "reference": {"answer": "x" * (256 * 1024 - len(json.dumps(LARGE)) - 50)}},
    ],
)
def test_a_record_at_the_limits_of_the_contract_is_accepted(
    service: RunService, most: dict[str, Any]
) -> None:
    answer = service.post(document([most]))

    assert answer.json().get("record_errors") == [], answer.text
    assert answer.status_code == 202
    run = service.when(answer.json()["run_id"])
    assert (run["status"], run["summary"]["evaluated_records"]) == ("completed", 1)


@pytest.mark.parametrize(
    "most",
    [
        {"dataset_id": "aZ0_-." + "a" * 122},
        {"dataset_version": "v" * 64},
        {"created_at": "2026-01-15T10:05:12Z"},
        {"metadata": DEEPEST},
        {"metadata": {"a": "x" * 16_375}},
    ],
)
def test_a_document_at_the_limits_of_the_contract_is_accepted(
    service: RunService, most: dict[str, Any]
) -> None:
    answer = service.post(document([GOOD], **most))

    assert answer.status_code == 202, answer.text
    assert service.when(answer.json()["run_id"])["status"] == "completed"


@pytest.mark.parametrize("moment", ["yesterday", "2026-13-01T00:00:00Z", 7])
def test_a_document_made_at_no_moment_is_refused(service: RunService, moment: object) -> None:
    error = service.post(document([GOOD], created_at=moment)).json()["error"]

    assert [one["path"] for one in error["details"]["findings"]] == ["created_at"]


def test_a_lone_surrogate_is_an_error_of_its_record(service: RunService) -> None:
    text = json.dumps(document([GOOD, record("b", "SURROGATE")])).replace("SURROGATE", "\\ud800")

    body = service.post(text.encode()).json()

    assert [one["code"] for one in body["record_errors"]] == ["invalid_encoding"]
    assert body["record_errors"][0]["path"] == "records[1].input.prompt"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe{}",
        json.dumps(document([GOOD])).encode("utf-16"),
        b"[" * 1_000_000,
        json.dumps({"records": [GOOD]}).encode(),
        json.dumps(document([])).encode(),
        json.dumps(document([GOOD], schema_version="2.0")).encode(),
        json.dumps(document([GOOD], dataset_id="a b")).encode(),
        json.dumps(document([GOOD], dataset_id="a" * 129)).encode(),
        json.dumps(document([GOOD], dataset_version="1" * 65)).encode(),
        json.dumps(document([GOOD], dataset_version=None)).encode(),
        json.dumps(document([GOOD], metadata=DEEP)).encode(),
        json.dumps(document([GOOD], metadata={"a": "x" * 16_384})).encode(),
        json.dumps({**document([]), "records": {"a": 1}}).encode(),
        b'{"dataset_id": NaN}',
        json.dumps(document([GOOD] * 50_001)).encode(),
    ],
)
def test_a_document_that_is_wrong_as_a_whole_makes_no_run(
    service: RunService, body: bytes
) -> None:
    before = _run_ids(service)

    answer = service.post(body)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_request"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert _run_ids(service) == before


FINDING = {
    "severity": "error",
    "code": "",
    "message": "",
    "path": "",
    "line": None,
    "index": None,
    "record_id": None,
    "hint": None,
}


def test_an_error_of_a_document_says_everything_that_is_wrong_with_it(service: RunService) -> None:
    wrong = {**document([GOOD], dataset_id="a b", schema_version="2.0"), "made_by": 7}

    error = service.post(wrong).json()["error"]
    findings = error["details"]["findings"]
    validated = service.client.post("/v1/validate", json=wrong, params={"kind": "dataset"}).json()

    assert [one["path"] for one in findings if one["severity"] == "error"] == [
        "dataset_id",
        "schema_version",
    ]
    assert all(list(one) == list(FINDING) for one in findings)
    assert [one["message"] for one in findings] == [
        one["message"] for one in validated["findings"]
    ]
    assert error["message"] in {f"{one['path']}: {one['message']}" for one in findings} | {
        one["message"] for one in findings
    }


def test_a_body_that_is_no_document_has_a_finding_too(service: RunService) -> None:
    (found,) = service.post(b"{").json()["error"]["details"]["findings"]

    assert (found["code"], found["severity"]) == ("invalid_json", "error")


def test_a_strict_run_is_refused_with_every_finding_and_nothing_of_it_is_kept(
    service: RunService,
) -> None:
    misspelt = {**record("c"), "tgas": ["t"]}
    before = _run_ids(service)

    soft = service.post(document([GOOD, record("b", 3), misspelt]))
    strict = service.post(document([GOOD, record("b", 3), misspelt]), strict=True)
    beside = service.post({"run": {"strict": True}, **document([GOOD, misspelt])})

    assert (soft.status_code, strict.status_code, beside.status_code) == (202, 400, 400)
    error = strict.json()["error"]
    assert error["code"] == "invalid_request"
    assert error["message"] == (
        "the dataset: records[1]: strict: input.prompt must be a string; and 1 more"
    )
    first, second = error["details"]["findings"]
    assert first == {
        **FINDING,
        "code": "invalid_field_type",
        "message": "input.prompt must be a string",
        "path": "records[1].input.prompt",
        "index": 1,
        "record_id": "b",
    }
    assert (second["code"], second["severity"], second["path"], second["hint"]) == (
        *("unsupported_field", "error", "records[2].tgas"),
        "did you mean 'tags'?",
    )
    assert [one["path"] for one in beside.json()["error"]["details"]["findings"]] == [
        "records[1].tgas"
    ]
    service.when(soft.json()["run_id"])
    assert _run_ids(service) == [soft.json()["run_id"], *before]


def test_a_misspelt_field_beside_the_records_is_refused_where_a_run_is_strict(
    service: RunService,
) -> None:
    odd = document([GOOD], metdata={})

    soft, strict = service.post(odd), service.post(odd, strict=True)

    assert (soft.status_code, strict.status_code) == (202, 400)
    (found,) = strict.json()["error"]["details"]["findings"]
    assert (found["path"], found["hint"]) == ("metdata", "did you mean 'metadata'?")


def test_a_strict_suite_makes_every_run_of_it_strict(service: RunService) -> None:
    suite = {
        "name": "exact",
        "dataset": "datasets/changed.json",
        "target": "echo",
        "rubric": "rubric/found@1.0",
        "strict_validation": True,
    }
    file = service.root / "datasets" / "changed.json"
    file.write_text(json.dumps(document([GOOD])), encoding="utf-8")
    assert service.client.post("/v1/suites", json=suite).status_code == 201
    odd = document([GOOD, {**record("b"), "tgas": ["t"]}])
    file.write_text(json.dumps(odd), encoding="utf-8")

    answer = service.client.post("/v1/runs", json={"run": {"suite": "exact"}})

    assert answer.status_code == 400
    assert [one["path"] for one in answer.json()["error"]["details"]["findings"]] == [
        "records[1].tgas"
    ]


def test_a_strict_run_of_a_document_without_a_problem_is_accepted(service: RunService) -> None:
    answer = service.post(document([GOOD]), strict=True)

    assert answer.status_code == 202
    assert service.when(answer.json()["run_id"])["status"] == "completed"


def test_no_run_is_made_where_all_records_are_malformed(service: RunService) -> None:
    answer = service.post(document([record(f"r{n}", n) for n in range(100)]))

    assert answer.status_code == 400
    assert answer.json() == {
        "error": {
            "code": "invalid_request",
            "message": "All records failed validation",
            "details": {"rejected_records": 100, "accepted_records": 0},
        },
        "request_id": answer.headers["x-request-id"],
    }


def test_a_document_with_more_errors_than_are_listed_is_run_all_the_same(
    service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posted_runs, "MAX_ERRORS", 3)
    twice = {"record_id": 7, "input": {"prompt": 7}}

    answer = service.post(document([twice, twice, twice, twice, GOOD]))

    assert answer.status_code == 202
    assert answer.json()["summary"] == {
        "total_records": 5,
        "accepted_records": 1,
        "rejected_records": 4,
    }
    assert [one["index"] for one in answer.json()["record_errors"]] == [0, 0, 1, 1, 2, 3]


def test_a_saved_dataset_of_errors_without_end_is_not_read_to_its_end(
    service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posted_runs, "MAX_ERRORS", 3)
    twice = {"record_id": 7, "input": {"prompt": 7}}

    answer = service.post(document([*[twice] * 8, GOOD]))

    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["message"] == "the records have more than 6 errors"
    assert len(error["details"]["findings"]) == 7


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b"", b"\r\n"])
def test_a_byte_order_mark_and_line_ends_are_ignored(service: RunService, prefix: bytes) -> None:
    text = json.dumps(document([GOOD]), indent=1).replace("\n", "\r\n")

    assert service.post(prefix + text.encode()).status_code == 202


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"content-type": "text/plain"}, {}),
        ({"content-type": "application/x-ndjson"}, {}),
        ({"content-encoding": "gzip"}, {}),
        ({}, {"target": None}),
        ({}, {"target": "unknown"}),
        ({}, {"rubric": "rubric/unknown@1.0"}),
        ({}, {"rubric": "/etc/passwd.json"}),
        ({}, {"rubric": "../rubrics/found.yaml"}),
        ({}, {"suite": "unknown"}),
        ({}, {"unknown": "1"}),
        ({}, {"repeat": "0"}),
        ({}, {"repeat": "9" * 40}),
        ({}, {"limit": "x"}),
        ({}, {"fail_under": "nan"}),
        ({}, {"where": "???"}),
        ({}, {"target": "a\x00b"}),
        ({}, {"model": "m-2"}),
        ({}, {"dataset": "saved@1"}),
        ({"idempotency-key": "x" * 300}, {}),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    service: RunService, headers: dict[str, str], query: dict[str, Any]
) -> None:
    answer = service.post(json.dumps(document([GOOD])).encode(), headers, **query)

    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["code"] == "invalid_request"


def test_settings_may_stand_in_the_document(service: RunService) -> None:
    settings = {"target": "echo", "rubric": "rubric/found@1.0", "limit": 1}
    query = {"target": None, "rubric": None}

    posted = service.post({"run": settings, **document([GOOD, record("b")])}, **query).json()
    plain = service.post(document([GOOD, record("b")]), limit=1).json()

    sources = [_manifest(service, one["run_id"])["source"] for one in (posted, plain)]
    assert [*sources[0].values()] == [*sources[1].values()]
    assert service.run(posted["run_id"])["summary"]["total_records"] == 1


def _run_ids(service: RunService) -> list[str]:
    """The runs there are, whatever a worker makes of them meanwhile."""
    runs = service.client.get("/v1/runs", params={"limit": 100}).json()["data"]
    return [run["run_id"] for run in runs]


def _manifest(service: RunService, run_id: str) -> Any:
    service.when(run_id)
    path = service.root / ".steelyard" / "runs" / run_id / "run_manifest.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "settings", [{"target": "echo"}, {"unknown": 1}, {"repeat": "2"}, [], "echo", {"suite": 1}]
)
def test_settings_that_are_given_twice_or_wrong_are_refused(
    service: RunService, settings: Any
) -> None:
    answer = service.post({"run": settings, **document([GOOD])})

    assert answer.status_code == 400


def test_a_suite_is_run_without_records(service: RunService) -> None:
    query = {"target": None, "rubric": None}

    answer = service.post({"run": {"suite": "saved"}}, **query)

    assert answer.status_code == 202, answer.text
    assert answer.json()["summary"]["total_records"] == 1
    assert service.when(answer.json()["run_id"])["dataset_id"] == "saved"


@pytest.mark.parametrize("name", ["kept@7", "dataset/kept@7"])
def test_a_dataset_that_was_created_over_http_is_run(service: RunService, name: str) -> None:
    kept = document([record("a"), record("b", 3)], dataset_id="kept", dataset_version="7")
    service.client.post("/v1/datasets", json=kept)
    settings = {"dataset": name, "target": "echo", "rubric": "rubric/found@1.0"}

    answer = service.client.post("/v1/runs", json={"run": settings})

    assert answer.status_code == 202, answer.text
    assert answer.json()["summary"]["rejected_records"] == 1
    run = service.when(answer.json()["run_id"])
    assert (run["dataset_id"], run["dataset_version"]) == ("kept", "7")
    assert run["summary"]["evaluated_records"] == 1


@pytest.mark.parametrize("target", ["echo", "slow"])
def test_a_model_of_a_target_that_has_none_is_refused(service: RunService, target: str) -> None:
    error = service.post(document([GOOD]), target=target, model="m-2").json()["error"]

    assert error["message"] == (
        f"target '{target}' takes no model: it has none that 'm-2' could replace"
    )


def test_a_model_replaces_that_of_the_target(service: RunService) -> None:
    run_id = service.post(document([GOOD]), target="moody", model="m-2").json()["run_id"]

    assert _manifest(service, run_id)["model"] == "m-2"


def test_no_file_shows_where_the_server_keeps_things(service: RunService) -> None:
    run_id = service.post(document([GOOD])).json()["run_id"]

    manifest = _manifest(service, run_id)
    assert str(service.root) not in json.dumps(manifest)


def test_a_key_gives_the_same_answer_again(service: RunService) -> None:
    headers = {"idempotency-key": "first"}

    first, again = (service.post(document([GOOD, {}]), headers) for _ in range(2))
    other = service.post(document([record("other")]), headers)
    asked = service.post(document([GOOD, {}]), headers, repeat=2)

    drop = {"request_id": None}
    assert again.status_code == 202
    assert {**again.json(), **drop} == {**first.json(), **drop}
    assert (other.status_code, asked.status_code) == (409, 409)


def test_a_key_of_a_refused_request_can_be_used_again(service: RunService) -> None:
    headers = {"idempotency-key": "second"}

    refused = service.post(document([{}]), headers)

    assert refused.status_code == 400
    assert service.post(document([GOOD]), headers).status_code == 202


def test_a_body_that_is_too_large_is_refused_as_soon_as_that_is_known(service: RunService) -> None:
    def endless() -> Generator[bytes]:
        for _ in range(110):
            yield b" " * 1024 * 1024

    counted = service.client.post(
        "/v1/runs", content=endless(), headers={"content-type": "application/json"}
    )

    assert counted.status_code == 413
    assert counted.json()["error"]["code"] == "payload_too_large"


def test_nothing_of_an_ended_upload_is_left_in_the_spool(service: RunService) -> None:
    service.post(document([{}]))
    service.post(document([GOOD]))
    for run in service.client.get("/v1/runs", params={"limit": 100}).json()["data"]:
        service.when(run["run_id"])

    # The last upload is removed right after its run has ended.
    time.sleep(0.5)
    assert list((service.root / ".steelyard" / "spool").iterdir()) == []


@pytest.mark.parametrize("text", ["cafe\u0301", "o\u0308"])
def test_texts_that_arrive_over_http_must_be_in_nfc(service: RunService, text: str) -> None:
    answer = service.post(document([GOOD, record("b", text)]))

    (error,) = answer.json()["record_errors"]
    assert (error["code"], error["path"]) == ("invalid_encoding", "records[1].input.prompt")


def test_a_suite_is_run_without_a_body(service: RunService) -> None:
    json_type, form_type = "application/json", "application/x-www-form-urlencoded"
    answers = [
        service.client.post(
            "/v1/runs",
            params={"suite": "saved"},
            content=body,
            headers={"content-type": media_type} if media_type else {},
        )
        for body, media_type in (
            *((b"", json_type), (b"{}", json_type), (b"", None), (b"", form_type)),
            *((b"{}", None), (b"{}", form_type)),
        )
    ]

    assert [one.status_code for one in answers] == [202, 202, 202, 202, 400, 400]


def test_a_suite_on_a_link_that_leads_to_itself_is_refused(service: RunService) -> None:
    """One that was replaced after the suite was saved."""
    file = service.root / "turned.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    suite = {"name": "turned", "dataset": "turned.jsonl", "target": "echo"}
    assert service.client.post("/v1/suites", json=suite).status_code == 201
    file.unlink()
    file.symlink_to(file.name)

    headers = {"content-type": "application/json"}
    answer = service.client.post("/v1/runs", params={"suite": "turned"}, headers=headers)

    assert answer.status_code == 400
    assert "symbolic links lead in a circle" in answer.json()["error"]["message"]


def test_a_run_says_what_became_of_its_gates(service: RunService) -> None:
    answer = service.post(document([record("a", "none")]), fail_under=0.9)

    run = service.when(answer.json()["run_id"])
    (gate,) = [one for one in run["gates"] if not one["passed"]]
    assert gate["name"].startswith("fail-under")
    assert run["target"] == "echo"


def test_a_body_in_another_encoding_is_refused(service: RunService) -> None:
    headers = {"content-type": "application/json; charset=latin-1"}
    answer = service.client.post("/v1/runs", content=b"{}", headers=headers)

    assert answer.status_code == 400
    assert "UTF-8" in answer.json()["error"]["message"]


def test_a_posted_document_leaves_the_memory_with_its_answer(service: RunService) -> None:
    """A full garbage collection may be far away, and a document may have 100 MB."""
    gc.collect()
    gc.disable()
    try:
        assert service.post(document([GOOD])).status_code == 202
        assert service.post(document([{}])).status_code == 400
        held = [one for one in gc.get_objects() if isinstance(one, DatasetDocumentReading)]
    finally:
        gc.enable()

    assert held == []


def test_what_is_odd_about_a_document_is_a_warning_of_its_run(service: RunService) -> None:
    twice = json.dumps(document([GOOD]))[:-1] + ', "records": [' + json.dumps(record("z")) + "]}"

    run_id = service.post(twice.encode()).json()["run_id"]
    service.when(run_id)

    with service.client.stream("GET", f"/v1/runs/{run_id}/events") as answer:
        told = "".join(answer.iter_text())
    assert "records is given twice; only the last value counts" in told


def test_no_run_is_accepted_where_the_disk_has_too_little_room(
    service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "MIN_FREE_BYTES", 2**62)

    answer = service.post(document([GOOD]))

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "service_unavailable"
    assert "free space" in answer.json()["error"]["message"]


def test_a_record_of_endless_values_is_too_large_and_not_built(service: RunService) -> None:
    answer = service.post(document([GOOD, {**record("b"), "x": [0] * 300_000}]))

    (wrong,) = answer.json()["record_errors"]
    assert answer.status_code == 202
    assert (wrong["index"], wrong["code"]) == (1, "record_too_large")


@pytest.mark.parametrize("more", [{f"k{n}": 0 for n in range(1001)}, {"metadata": [0] * 100_001}])
def test_a_document_of_too_much_beside_its_records_is_refused(
    service: RunService, more: dict[str, Any]
) -> None:
    answer = service.post({**document([GOOD]), **more})

    assert answer.status_code == 400
    assert "the document has more than" in answer.json()["error"]["message"]
