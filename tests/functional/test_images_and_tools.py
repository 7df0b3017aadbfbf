"""Records with images, tool calls and other blocks: what is sent, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from servers.anthropic_server import MESSAGE
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, says, serving

pytestmark = pytest.mark.trials

if TYPE_CHECKING:
    from aiohttp import web

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 24
DATA = base64.b64encode(PNG).decode("ascii")
DATA_URL = f"data:image/png;base64,{DATA}"
WEB = "https://pictures.example.com/chart.png"
TEXT = {"type": "text", "value": "What does it show?"}
FILE = {"type": "image", "value": "chart.png"}
AUDIO = {"type": "audio", "value": "call.wav"}
CALLS = [{"tool": "hours", "input": {"day": 7}, "id": "c1"}]
HISTORY = [
    {"role": "user", "content": "When on Sunday?"},
    {"role": "assistant", "tool_calls": CALLS},
    {"role": "tool", "content": "closed", "tool_call_id": "c1"},
    {"role": "user", "content": "And Monday?"},
]
RUN = ("run", "cases.jsonl", "--format", "json", "--target")


def write_project(folder: Path, *messages: list[Any], url: str = "", more: str = "") -> None:
    (folder / "chart.png").write_bytes(PNG)
    rows = [
        {
            "id": f"r{number}",
            "expected_outcome": "It says when.",
            "input_messages": said,
            "evaluators": [{"name": "says", "type": "contains", "value": "nine"}],
        }
        for number, said in enumerate(messages)
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (folder / "cases.jsonl").write_text(lines, encoding="utf-8")
    project = f"""
targets:
  live: {{provider: openai, base_url: "{url}", model: m-1{more}}}
  claude: {{provider: anthropic, base_url: "{url}", model: m-1{more}}}
  local: {{provider: echo{more}}}
"""
    (folder / "steelyard.yaml").write_text(project, encoding="utf-8")


def shown(*blocks: object) -> list[Any]:
    return [{"role": "user", "content": list(blocks)}]


@contextmanager
def endpoint(answer: object) -> Generator[tuple[str, list[Any]]]:
    bodies: list[Any] = []

    async def note(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return await says(answer)(request)

    with in_thread(serving(note)) as url:
        yield url, bodies


def row_of(done: subprocess.CompletedProcess[str], name: str) -> Any:
    text = (Path(json.loads(done.stdout)["artifacts"]) / name).read_text(encoding="utf-8")
    return json.loads(text if name.endswith(".json") else text.splitlines()[0])


def test_a_run_keeps_images_by_their_hash_and_tool_calls_as_they_went(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    with endpoint(COMPLETION) as (url, _):
        write_project(tmp_path, [*HISTORY[:3], *shown(TEXT, FILE)], url=url)
        done = steelyard(*RUN, "live", cwd=tmp_path)
        again = steelyard("show", "latest", "r0", cwd=tmp_path)
    asked = row_of(done, "predictions.jsonl")["request"]
    contents: list[list[Any]] = [message["content"] for message in asked["messages"]]
    image, call = contents[-1][-1], contents[1][-1]

    assert image == {
        "type": "image",
        "sha256": hashlib.sha256(PNG).hexdigest(),
        "media_type": "image/png",
        "size": len(PNG),
    }
    assert (call["tool"], call["input"], call["result"]) == ("hours", {"day": 7}, "closed")
    assert (again.returncode, hashlib.sha256(PNG).hexdigest()[:12] in again.stdout) == (0, True)


@pytest.mark.parametrize(
    ("block", "sent"),
    [
        (FILE, {"url": DATA_URL}),
        ({"type": "file", "value": "chart.png"}, {"url": DATA_URL}),
        ({"type": "image", "value": DATA_URL}, {"url": DATA_URL}),
        (
            {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "low"}},
            {"url": DATA_URL, "detail": "low"},
        ),
        ({"type": "image_url", "image_url": {"url": WEB}}, {"url": WEB}),
        (
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": DATA},
            },
            {"url": DATA_URL},
        ),
        ({"type": "image", "source": {"type": "url", "url": WEB}}, {"url": WEB}),
    ],
)
def test_openai_is_sent_images_in_every_form(
    steelyard: Steelyard, tmp_path: Path, block: object, sent: object
) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        write_project(tmp_path, shown(TEXT, block), url=url)
        done = steelyard(*RUN, "live", "--strict", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert bodies[0]["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What does it show?"},
                {"type": "image_url", "image_url": sent},
            ],
        }
    ]


def test_anthropic_is_sent_images(steelyard: Steelyard, tmp_path: Path) -> None:
    web_image = {"type": "image_url", "image_url": {"url": WEB}}
    with endpoint(MESSAGE) as (url, bodies):
        write_project(tmp_path, shown(TEXT, FILE, web_image), url=url)
        done = steelyard(*RUN, "claude", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert bodies[0]["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What does it show?"},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": DATA},
                },
                {"type": "image", "source": {"type": "url", "url": WEB}},
            ],
        }
    ]


def test_openai_is_sent_tool_history(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        write_project(tmp_path, HISTORY, url=url)
        done = steelyard(*RUN, "live", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    function = {"name": "hours", "arguments": '{"day": 7}'}
    assert bodies[0]["messages"] == [
        {"role": "user", "content": "When on Sunday?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "closed"},
        {"role": "user", "content": "And Monday?"},
    ]


def test_anthropic_is_sent_tool_history(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(MESSAGE) as (url, bodies):
        write_project(tmp_path, HISTORY, url=url)
        done = steelyard(*RUN, "claude", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    use = {"type": "tool_use", "id": "c1", "name": "hours", "input": {"day": 7}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "closed"}
    assert bodies[0]["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "When on Sunday?"}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result, {"type": "text", "text": "And Monday?"}]},
    ]
    # The protocol refuses calls of tools that a request does not define.
    assert bodies[0]["tools"] == [{"name": "hours", "input_schema": {"type": "object"}}]
    assert bodies[0]["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("target", "messages", "told"),
    [
        ("local", shown(TEXT, FILE), ("[0].content[1]", "an image")),
        ("live", shown(TEXT, AUDIO), ("[0].content[1]", "a block of type 'audio'")),
        ("local", HISTORY, ("[1].tool_calls", "tool calls")),
        (
            "live",
            [{"role": "tool", "content": "closed"}, *HISTORY[3:]],
            ("[0]", "the message of a tool without the call that it answers"),
        ),
        (
            "live",
            [*HISTORY[:2], *HISTORY[3:]],
            ("[1].tool_calls[0]", "a tool call without its result"),
        ),
        (
            "live",
            [{"role": "assistant", "content": [FILE]}, *HISTORY[3:]],
            ("[0].content[0]", "an image"),
        ),
    ],
)
def test_what_a_target_cannot_be_sent_makes_the_record_invalid(
    steelyard: Steelyard,
    tmp_path: Path,
    target: str,
    messages: list[Any],
    told: tuple[str, str],
) -> None:
    path, what = told
    with endpoint(COMPLETION) as (url, bodies):
        write_project(tmp_path, messages, HISTORY[:1], url=url)
        strict = steelyard(*RUN, target, "--strict", cwd=tmp_path)
        done = steelyard(*RUN, target, cwd=tmp_path)

    assert strict.returncode == 2
    assert f"targets.{target} cannot be sent {what}" in strict.stderr
    assert done.returncode in {1, 4}, done.stderr
    metrics = json.loads(done.stdout)["metrics"]
    assert (metrics["total_records"], metrics["invalid_records"]) == (2, 1)
    found = row_of(done, "record_validation.jsonl")["errors"][0]
    assert (found["code"], found["path"]) == ("unsupported_field", f"input_messages{path}")
    assert what in found["message"]
    assert len(bodies) == (1 if target == "live" else 0)


def test_a_dataset_of_nothing_else_says_why(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, shown(TEXT, FILE))
    done = steelyard(*RUN, "local", cwd=tmp_path)

    assert done.returncode == 2
    assert "targets.local cannot be sent an image" in done.stderr
    assert "targets.local.unsupported: omit" in done.stderr


def test_the_path_in_a_yaml_file_starts_at_the_file(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, shown(TEXT))
    case = {"expected_outcome": "x", "evaluators": [{"name": "n", "type": "is_json"}]}
    cases = [
        {"id": "a", "input_messages": shown(TEXT), **case},
        {"id": "b", "input_messages": shown(FILE), **case},
    ]
    text = json.dumps({"evalcases": cases})
    (tmp_path / "cases.yaml").write_text(text, encoding="utf-8")
    done = steelyard(RUN[0], "cases.yaml", *RUN[2:], "local", cwd=tmp_path)

    rows = (Path(json.loads(done.stdout)["artifacts"]) / "record_validation.jsonl").read_text()
    found = json.loads(rows.splitlines()[1])["errors"][0]
    assert found["path"] == "evalcases[1].input_messages[0].content[0]"


def test_nothing_is_asked_where_nothing_is_left(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        write_project(
            tmp_path, shown(AUDIO), shown(TEXT, AUDIO), url=url, more=", unsupported: omit"
        )
        done = steelyard(*RUN, "live", cwd=tmp_path)

    metrics = json.loads(done.stdout)["metrics"]
    assert (metrics["invalid_records"], metrics["omitted_blocks"]) == (1, 1), done.stderr
    found = row_of(done, "record_validation.jsonl")["errors"][0]
    assert "and without it nothing is left to ask" in found["message"]
    assert [body["messages"][0]["content"] for body in bodies] == [TEXT["value"]]


def test_what_is_left_out_on_demand_is_counted(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        messages = [*shown(TEXT, FILE, AUDIO), *HISTORY[1:]]
        write_project(tmp_path, messages, url=url, more=", unsupported: omit")
        carried = steelyard(*RUN, "live", cwd=tmp_path)
        echoed = steelyard(*RUN, "local", cwd=tmp_path)
        told = steelyard("show", "latest", cwd=tmp_path)

    assert carried.returncode == 0, carried.stderr
    assert [part["type"] for part in bodies[0]["messages"][0]["content"]] == ["text", "image_url"]
    assert json.loads(carried.stdout)["metrics"]["omitted_blocks"] == 1
    assert json.loads(echoed.stdout)["metrics"]["omitted_blocks"] == 4
    manifest = row_of(echoed, "run_manifest.json")
    assert manifest["omitted_blocks"] == 4
    assert manifest["targets"]["local"]["unsupported"] == "omit"
    assert "4 block(s) that a target cannot be sent, left out" in told.stdout


def test_recorded_answers_are_graded_whatever_was_asked(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write_project(tmp_path, shown(TEXT, FILE, AUDIO), HISTORY)
    rows = [{"record_id": f"r{n}", "response_text": "At nine."} for n in range(2)]
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    done = steelyard(*RUN[:4], "--responses", "answers.jsonl", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["pass_count"] == 2


@pytest.mark.parametrize(
    ("block", "code", "path"),
    [
        ({"type": "image", "value": "gone.png"}, "missing_file", "content[1].value"),
        ({"type": "file", "value": "gone.png"}, "missing_file", "content[1].value"),
        ({"type": "image", "value": "../out.png"}, "file_outside_root", "content[1].value"),
        (
            {"type": "image_url", "image_url": {"url": "../out.png"}},
            "file_outside_root",
            "content[1].image_url.url",
        ),
        ({"type": "image", "value": "large.png"}, "record_too_large", "content[1].value"),
        (
            {"type": "image", "value": "data:image/png;base64,%%"},
            "invalid_encoding",
            "content[1].value",
        ),
        ({"type": "image"}, "missing_required_field", "content[1]"),
    ],
)
def test_images_that_cannot_be_had_are_findings(
    steelyard: Steelyard, tmp_path: Path, block: object, code: str, path: str
) -> None:
    (tmp_path / "out.png").write_bytes(PNG)
    folder = tmp_path / "project"
    folder.mkdir()
    write_project(folder, shown(TEXT, block))
    (folder / "large.png").write_bytes(PNG + b"\0" * 10 * 1024 * 1024)
    done = steelyard("validate", "cases.jsonl", "--format", "json", cwd=folder)

    assert done.returncode == 1
    found = json.loads(done.stdout)["files"][0]["findings"][0]
    assert (found["code"], found["path"]) == (code, f"input_messages[0].{path}")


def test_blocks_that_nobody_can_be_sent_are_warned_of(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    write_project(tmp_path, shown(TEXT, AUDIO), shown({"type": "image", "value": "plan.svg"}))
    (tmp_path / "plan.svg").write_text("<svg/>", encoding="utf-8")
    done = steelyard("validate", "cases.jsonl", "--format", "json", cwd=tmp_path)

    assert done.returncode == 0
    found = json.loads(done.stdout)["files"][0]["findings"]
    assert [(one["severity"], one["code"]) for one in found] == [
        ("warning", "unsupported_field"),
        ("warning", "unreadable_file"),
    ]


def test_a_plan_counts_an_image_as_many_tokens(steelyard: Steelyard, tmp_path: Path) -> None:
    write_project(tmp_path, shown(TEXT, FILE), url="http://127.0.0.1:1/v1")
    done = steelyard(*RUN, "live", "--plan", cwd=tmp_path)

    assert json.loads(done.stdout)["input_tokens"] == 1600 + len("What does it show?") // 4


def test_an_image_that_changed_is_another_record(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        write_project(tmp_path, shown(TEXT, FILE), url=url)
        first = steelyard(*RUN, "live", "--cache", cwd=tmp_path)
        again = steelyard(*RUN, "live", "--cache", cwd=tmp_path)
        (tmp_path / "chart.png").write_bytes(PNG + b"\1")
        changed = steelyard(*RUN, "live", "--cache", cwd=tmp_path)

    rows = [row_of(done, "predictions.jsonl") for done in (first, again, changed)]
    assert [row["response_source"] for row in rows] == ["sampled", "cached", "sampled"]
    assert rows[0]["record_sha256"] == rows[1]["record_sha256"] != rows[2]["record_sha256"]
    assert len(bodies) == 2


def judged(folder: Path, url: str, judge: str, answer: object, more: str = "") -> None:
    """A record with an image, whose answer is recorded and judged."""
    row = {"id": "r0", "expected_outcome": "It says when.", "input_messages": shown(TEXT, FILE)}
    write_project(folder, url=url, more=more)
    with (folder / "steelyard.yaml").open("a", encoding="utf-8") as project:
        project.write(f"judges: {{default: {{target: {judge}}}}}")
    (folder / "cases.jsonl").write_text(json.dumps(row), encoding="utf-8")
    message = {"role": "assistant", "content": answer}
    given = {"record_id": "r0", "trace": {"messages": [message]}}
    (folder / "answers.jsonl").write_text(json.dumps(given), encoding="utf-8")


JUDGED = (*RUN[:4], "--responses", "answers.jsonl")


@pytest.mark.parametrize(
    ("setting", "reason"), [("refuse", "cannot be shown an image"), ("omit", "")]
)
def test_a_judge_that_cannot_see_an_image_is_unscored(
    steelyard: Steelyard, tmp_path: Path, setting: str, reason: str
) -> None:
    judged(tmp_path, "", "local", "At nine.", f", unsupported: {setting}")
    done = steelyard(*JUDGED, cwd=tmp_path)
    prediction = row_of(done, "predictions.jsonl")

    assert prediction["status"] == "evaluation_error"  # an echo never gives a verdict
    said = json.dumps(prediction["evaluator_scores"])
    assert ("a judge cannot be shown" in said) is bool(reason)
    assert reason in said


@pytest.mark.parametrize(
    ("judge", "answer", "images"),
    [
        ("live", "At nine.", 1),
        ("claude", "At nine.", 1),
        ("live", [TEXT, {"type": "image_url", "image_url": {"url": DATA_URL}}], 2),
        ("claude", [TEXT, {"type": "image", "source": {"type": "url", "url": WEB}}], 2),
    ],
)
def test_a_judge_is_shown_the_images_of_question_and_answer(
    steelyard: Steelyard, tmp_path: Path, judge: str, answer: object, images: int
) -> None:
    with endpoint(COMPLETION if judge == "live" else MESSAGE) as (url, bodies):
        judged(tmp_path, url, judge, answer)
        steelyard(*JUDGED, cwd=tmp_path)

    content = next(body["messages"][-1]["content"] for body in bodies if DATA in json.dumps(body))
    assert [block["type"] for block in content[:1]] == ["text"]
    assert f"image {images} (" in content[0]["text"]
    assert hashlib.sha256(PNG).hexdigest() in content[0]["text"]
    assert len(content) == 1 + images
    assert DATA in json.dumps(content[1])


@pytest.mark.parametrize("block", [AUDIO, {"type": "image", "value": "/etc/chart.png"}])
def test_a_judge_that_cannot_see_an_answer_is_not_asked(
    steelyard: Steelyard, tmp_path: Path, block: object
) -> None:
    with endpoint(COMPLETION) as (url, bodies):
        judged(tmp_path, url, "live", [TEXT, block])
        done = steelyard(*JUDGED, cwd=tmp_path)

    assert "a judge cannot be shown" in json.dumps(row_of(done, "predictions.jsonl"))
    assert not any(DATA in json.dumps(body) for body in bodies)


def test_every_reason_has_a_line_of_its_own(steelyard: Steelyard, tmp_path: Path) -> None:
    with endpoint(COMPLETION) as (url, _):
        write_project(tmp_path, shown(FILE), shown(FILE), shown(AUDIO), shown(TEXT), url=url)
        done = steelyard("run", "cases.jsonl", "--target", "local", cwd=tmp_path)

    assert "no score   2 unsupported_field: targets.local cannot be sent an image" in done.stdout
    assert "no score   1 unsupported_field: targets.local cannot be sent a block" in done.stdout
