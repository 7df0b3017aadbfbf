"""What a project has redacted beside the usual never reaches a file of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import run_many
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, says, serving

JSON = ("--format", "json")
SETTINGS = r"""
redaction:
  custom: {order: 'ORD-[0-9]{4}'}
  fields: [metadata.card, metadata.patient]
targets:
  told: {provider: echo, prompt: "{{input}} The patient is {{metadata.patient}}."}
"""
HIDDEN = (
    *("123-45-6789", "hunter2", "00491701234567", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    *("ORD-1234", "4111111111111111", "Erika Mustermann", "4012888888881881"),
)
PROMPT = (
    "My number is 123-45-6789, password=hunter2, call 00491701234567. "
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY opens ORD-1234."
)


def document(**metadata: Any) -> str:
    record = {
        "record_id": "a",
        "input": {"prompt": PROMPT, "card": 4012888888881881},
        "expected": {"max_latency_ms": 60000},
        "metadata": metadata,
    }
    head = {"dataset_id": "desk", "dataset_version": "1", "schema_version": "1.0"}
    return json.dumps({**head, "records": [record]})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "steelyard.yaml").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "desk.json").write_text(
        document(card=4111111111111111, patient="Erika Mustermann", ward="B"), encoding="utf-8"
    )
    return tmp_path


def test_nothing_of_it_is_in_any_file_and_the_manifest_counts_it(project: Path) -> None:
    run, shown = run_many(
        project, [("run", "desk.json", "--target", "told", *JSON), ("show", "latest", "a", *JSON)]
    )
    assert (run.code, shown.code) == (0, 0)
    folder = project / json.loads(run.stdout)["artifacts"]
    manifest = json.loads((folder / "run_manifest.json").read_bytes())["redaction"]
    kept = json.loads((folder / "input_dataset.json").read_bytes())["records"][0]
    asked = json.loads(shown.stdout)["records"][0]["request"]["messages"][0]["content"]

    for path in (*folder.iterdir(), *(project / ".steelyard").glob("*.db*")):
        data = path.read_bytes()
        assert [text for text in HIDDEN if text.encode() in data] == []
    assert kept["input"]["card"] == "[redacted:card]"
    assert kept["metadata"] == {
        "card": "[redacted:metadata.card]",
        "patient": "[redacted:metadata.patient]",
        "ward": "B",
    }
    assert asked == (
        "My number is [redacted:card], password=[redacted:key], call [redacted:phone]. "
        "[redacted:key] opens [redacted:order]. The patient is [redacted:metadata.patient]."
    )
    assert all(manifest["patterns"][kind] for kind in ("key", "phone", "card"))
    assert manifest["custom"]["order"] > 0
    assert min(manifest["fields"].values()) > 0


def test_a_selection_by_a_hidden_field_is_kept_without_its_value(project: Path) -> None:
    where = "metadata.patient = 'Erika Mustermann' and metadata.card > 99 and metadata.ward=B"
    (run,) = run_many(project, [("run", "desk.json", "--target", "told", "--where", where, *JSON)])
    assert run.code == 0, run.stderr
    folder = project / json.loads(run.stdout)["artifacts"]
    manifest = json.loads((folder / "run_manifest.json").read_bytes())

    assert manifest["options"]["where"] == (
        "metadata.patient = [redacted:metadata.patient] and metadata.card > "
        "[redacted:metadata.card] and metadata.ward=B"
    )
    assert manifest["redaction"]["fields"]["metadata.card"] == 2
    assert b"Erika" not in b"".join(
        path.read_bytes() for path in (project / ".steelyard").rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("{custom: {mine: '(?<=a)b'}}", "redaction.custom.mine: not a pattern RE2 knows"),
        ("{custom: {mine: 'a*'}}", "redaction.custom.mine fits the empty text"),
        ("{custom: {email: 'a+'}}", "redaction.custom"),
        ("{fields: ['metadata..card']}", "redaction.fields"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_told_with_2(
    project: Path, rules: str, said: str
) -> None:
    (project / "steelyard.yaml").write_text(f"redaction: {rules}\n", encoding="utf-8")
    (done,) = run_many(project, [("run", "desk.json", "--target", "echo")])

    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr


OWN_NUMBERS = """
redaction: {custom: {digits: '[0-9]{4}'}, fields: [status, index, seed]}
targets:
  told: {provider: openai, base_url: "%s", model: m, seed: 4111111111111111, max_concurrency: 1}
"""


def test_numbers_hashes_and_times_of_our_own_stay_whatever_they_look_like(tmp_path: Path) -> None:
    (tmp_path / "desk.json").write_text(document(seed=4111111111111111), encoding="utf-8")
    with in_thread(serving(says(COMPLETION))) as url:
        (tmp_path / "steelyard.yaml").write_text(OWN_NUMBERS % url, encoding="utf-8")
        run, verified = run_many(
            tmp_path,
            [("run", "desk.json", "--target", "told", *JSON), ("verify", "latest")],
        )
    assert (run.code, verified.code) == (0, 0), run.stderr
    folder = tmp_path / json.loads(run.stdout)["artifacts"]
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    told = json.loads((folder / "predictions.jsonl").read_bytes())
    kept = json.loads((folder / "input_dataset.json").read_bytes())["records"][0]

    assert manifest["run_id"] == json.loads(run.stdout)["run_id"]
    assert (manifest["seed"], manifest["targets"]["told"]["seed"]) == (4111111111111111,) * 2
    assert manifest["created_at"].startswith("20")
    assert (told["index"], told["status"]) == (0, "evaluated")
    assert len(told["record_sha256"]) == len(told["request"]["sha256"]) == 64
    assert kept["metadata"]["seed"] == "[redacted:seed]"
    assert kept["input"]["card"] == "[redacted:card]"


def test_parts_of_the_manifest_stay_though_fields_of_records_have_their_names(
    project: Path,
) -> None:
    hidden = "source, targets, echo, options, gates, rubrics, judges, environment, derived_from"
    (project / "steelyard.yaml").write_text(
        f"redaction: {{fields: [{hidden}]}}\n", encoding="utf-8"
    )
    run, *others = run_many(
        project,
        [
            ("run", "desk.json", "--target", "echo", *JSON),
            ("show", "latest"),
            ("runs",),
            ("report", "latest", "-o", "r.html"),
            ("compare", "latest", "latest"),
        ],
    )

    assert run.code == 0, run.stderr
    assert [(one.code, one.stderr) for one in others] == [(0, "")] * 4
    folder = project / json.loads(run.stdout)["artifacts"]
    manifest = json.loads((folder / "run_manifest.json").read_bytes())
    assert manifest["targets"] == {"echo": {"provider": "echo"}}
    assert manifest["options"]["target"] == "echo"


HOLDER = {
    "number": 4111111111111111,
    "holder": {"names": ["Erika Mustermann", "Max Mustermann"]},
    "pin": 987654321,
    "is_valid": True,
}
TOLD = """
redaction: {fields: [metadata.card]}
targets: {told: {provider: python, callable: "agent:answer"}}
"""
AGENT = """
def answer(prompt):
    call = {"id": "1", "tool": "pay", "input": {"pin": 987654321, "valid": True}, "output": None}
    said = '{"who": "Max Mustermann", "pin": 987654321}'
    return {"messages": [{"role": "assistant", "content": said, "tool_calls": [call]}]}
"""


@pytest.mark.parametrize("card", [HOLDER, [HOLDER, "Erika Mustermann"]])
def test_hidden_fields_cover_all_that_objects_and_lists_in_them_hold(
    tmp_path: Path, card: Any
) -> None:
    (tmp_path / "steelyard.yaml").write_text(TOLD, encoding="utf-8")
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "desk.json").write_text(document(card=card, ward="B"), encoding="utf-8")
    run, shown = run_many(
        tmp_path, [("run", "desk.json", "--target", "told", *JSON), ("show", "latest", "a", *JSON)]
    )
    folder = tmp_path / json.loads(run.stdout)["artifacts"]
    kept = json.loads((folder / "input_dataset.json").read_bytes())["records"][0]
    (row,) = json.loads(shown.stdout)["records"]
    (call,) = row["trace"]["messages"][0]["tool_calls"]

    for path in (*folder.iterdir(), *(tmp_path / ".steelyard").glob("*.db*")):
        data = path.read_bytes()
        assert [text for text in (b"Mustermann", b"987654321") if text in data] == []
    assert kept["metadata"] == {"card": "[redacted:metadata.card]", "ward": "B"}
    assert call["input"] == {"pin": "[redacted:metadata.card]", "valid": True}
    assert json.loads(row["model_response"]) == dict.fromkeys(
        ("who", "pin"), "[redacted:metadata.card]"
    )


ECHO = "targets: {told: {provider: echo, prompt: '{{metadata.said}}'}}\n"


def test_an_answer_that_is_json_stays_json(tmp_path: Path) -> None:
    said = json.dumps({"card": 4111111111111111, "text": json.dumps([4012888888881881])})
    (tmp_path / "steelyard.yaml").write_text(ECHO, encoding="utf-8")
    (tmp_path / "desk.json").write_text(document(said=said), encoding="utf-8")
    run, shown = run_many(
        tmp_path, [("run", "desk.json", "--target", "told", *JSON), ("show", "latest", "a", *JSON)]
    )
    (row,) = json.loads(shown.stdout)["records"]

    assert run.code == 0, run.stderr
    assert json.loads(row["model_response"]) == {
        "card": "[redacted:card]",
        "text": '["[redacted:card]"]',
    }


PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAsecretbody\n" * 200
COMPLAINT = f"{PRIVATE_KEY}-----END RSA PRIVATE KEY-----\n4111 1111 1111 1111 ORD-1234 {'y' * 385}"
COMPLAINING = f"""
import sys
sys.stderr.write({COMPLAINT!r})
print('{{"score": 1}}')
sys.exit(len(sys.argv) > 1)
"""
PROGRAMS = """
allow: {commands: true}
retry: {max_attempts: 1}
redaction: {custom: {order: 'ORD-[0-9]{4}'}}
targets:
  broken: {provider: command, command: [python3, complain.py, "{PROMPT}"]}
  sound: {provider: command, command: [python3, complain.py]}
"""
JUDGED = """
- id: a
  criteria: x
  input: Hello
  assertions:
    - {name: fine, type: code_grader, command: [python3, complain.py]}
    - {name: failing, type: code_grader, command: [python3, complain.py, now]}
"""


def test_what_programs_say_on_stderr_is_redacted_before_it_is_cut(tmp_path: Path) -> None:
    for name, text in (
        ("steelyard.yaml", PROGRAMS),
        ("complain.py", COMPLAINING),
        ("cases.yaml", f"tests:{JUDGED}"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run_many(
        tmp_path,
        [
            ("run", "cases.yaml", "--target", "broken"),
            ("show", "latest", "a"),
            ("run", "cases.yaml", "--target", "sound"),
            ("show", "latest", "a", *JSON),
        ],
    )
    files = [path for path in (tmp_path / ".steelyard").rglob("*") if path.is_file()]
    kept = [path.read_bytes() for path in files]
    said = [text.encode() for one in done for text in (one.stdout, one.stderr)]

    assert [one.code for one in done] == [4, 0, 4, 0], done[0].stderr
    assert "python3 exited with 1: " in done[1].stdout
    assert "[redacted:key] [redacted:card]" in done[3].stdout
    for data in (*kept, *said):
        assert [text for text in (b"secretbody", b"1111 1111", b"ORD-1234") if text in data] == []


def test_a_run_is_read_where_fields_of_its_rows_are_redacted_as_a_whole(tmp_path: Path) -> None:
    case = {"id": "a", "expected_outcome": "yes", "tags": ["secret"], "input": "?"}
    checks = [{"name": "right", "type": "contains", "value": "yes"}]
    said = {"record_id": "a", "candidate_name": "t", "response_text": "no"}
    files = {
        "cases.jsonl": json.dumps({**case, "evaluators": checks}),
        "said.jsonl": json.dumps(said),
        "steelyard.yaml": "redaction: {fields: [tags, expected, details]}",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    run = ("run", "cases.jsonl", "--responses", "said.jsonl")
    looks = ("compare latest~1 latest", "show latest a", "export latest --to csv")
    looks = (*looks, "report latest -o page.html")
    done = run_many(tmp_path, [run, run, *(words.split() for words in looks)])

    assert [one.code for one in done] == [0] * 6
    assert "[redacted:expected]" in done[3].stdout
    assert "[redacted:expected]" in done[4].stdout
