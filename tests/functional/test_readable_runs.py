"""A run says what was asked and what was expected, on its own, whatever became of the dataset."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fakes.desk_project import case, jsonl, write_desk
from fakes.many_commands import Done, run_many
from steelyard.usecases.results.read_run import read_run
from steelyard.usecases.runs.evaluate import Run

JSON = ("--format", "json")
MANUAL = "Be kind to everybody.\n" * 200
ASKED = "Was kosten Bücher?"


class Kept(NamedTuple):
    """A folder that holds two runs and nothing else, and what commands say of them."""

    root: Path
    said: dict[str, Done]

    def rows(self, name: str) -> list[dict[str, Any]]:
        text = (self.root / "b" / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


def _cases() -> Iterator[dict[str, Any]]:
    """Two records with the same long instruction, of which one is asked in vain, and two more."""
    manual = {"role": "system", "content": MANUAL}
    for name, asked, wanted in (("hours", "When do you open?", "nine"), ("fees", ASKED, "Nichts")):
        one = case(name, asked, wanted)
        yield {**one, "input_messages": [manual, *one["input_messages"]]}
    yield case("mail", "Write to ann@example.org: how long may I keep a book?", "weeks")
    yield {
        **case("parking", "Where may I park?", "garage"),
        "expected_messages": [{"role": "assistant", "content": "In the garage."}],
    }


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """`agent`, then `moody`; their folders are moved away from project, dataset and database."""
    made, root = (tmp_path_factory.mktemp(name) for name in ("made", "kept"))
    jsonl(write_desk(made) / "datasets" / "asked.jsonl", list(_cases()))
    runs = [
        ("run", "datasets/asked.jsonl", "--target", name, *JSON) for name in ("agent", "moody")
    ]
    junit = ("run", "datasets/asked.jsonl", "--target", "agent", "--format", "junit")
    found = run_many(made, [*runs, junit])
    for name, one in zip(("a", "b"), found, strict=False):
        (made / json.loads(one.stdout)["artifacts"]).rename(root / name)
    shutil.rmtree(made)
    commands = {
        "verify": ("verify", "b"),
        "show": ("show", "b", "fees"),
        "show json": ("show", "b", "fees", *JSON),
        "show parking": ("show", "b", "parking"),
        "export": ("export", "b"),
        "export csv": ("export", "b", "--to", "csv"),
        "report": ("report", "b", "-o", "b.html"),
    }
    said = dict(zip(commands, run_many(root, commands.values()), strict=True))
    assert {name: one.code for name, one in said.items()} == dict.fromkeys(commands, 0)
    return Kept(root, {**said, "junit": found[2]})


def test_show_tells_what_was_asked_and_expected(kept: Kept) -> None:
    record = json.loads(kept.said["show json"].stdout)["records"][0]

    assert record["request"]["sent"] is True
    assert record["request"]["messages"] == [
        {"role": "system", "content": MANUAL.strip()},
        {"role": "user", "content": ASKED},
    ]
    assert record["expected"] == {"outcome": "Says Nichts."}
    assert f"  user: {ASKED}\n  expected outcome: Says Nichts.\n" in kept.said["show"].stdout
    assert "\n  expected answer: In the garage.\n" in kept.said["show parking"].stdout


def test_the_hash_of_a_request_is_that_of_its_messages(kept: Kept) -> None:
    request = json.loads(kept.said["show json"].stdout)["records"][0]["request"]
    text = json.dumps(
        request["messages"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )

    assert request["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_long_text_that_records_share_is_kept_once_beside_them(kept: Kept) -> None:
    contents = [row["request"]["messages"][0]["content"] for row in kept.rows("predictions.jsonl")]
    document = json.loads((kept.root / "b" / "input_dataset.json").read_bytes())
    sha256 = hashlib.sha256(MANUAL.strip().encode()).hexdigest()

    assert document["request_parts"] == {sha256: MANUAL.strip()}
    assert contents.count([{"sha256": sha256}]) == 1
    assert contents.count(MANUAL.strip()) == 1
    assert "intact    input_dataset.json" in kept.said["verify"].stdout


def test_what_was_asked_is_redacted(kept: Kept) -> None:
    rows = [json.loads(line) for line in kept.said["export"].stdout.splitlines()]
    asked = {row["record_id"]: row["request"]["messages"][-1]["content"] for row in rows}

    assert asked["mail"] == "Write to [redacted:email]: how long may I keep a book?"
    for path in (kept.root / "b").iterdir():
        assert b"ann@example.org" not in path.read_bytes()


def test_exports_have_it_in_full(kept: Kept) -> None:
    rows = [json.loads(line) for line in kept.said["export"].stdout.splitlines()]
    table = {
        row["record_id"]: row
        for row in csv.DictReader(io.StringIO(kept.said["export csv"].stdout))
    }

    assert [row["request"]["messages"][0]["content"] for row in rows][:2] == [MANUAL.strip()] * 2
    assert table["fees"]["request"] == f"system: {MANUAL.strip()}\n\nuser: {ASKED}"
    assert table["parking"]["request"] == "Where may I park?"
    assert table["parking"]["expected"] == "answer: In the garage.\noutcome: Says garage."


def test_a_report_shows_question_expectation_and_answer(kept: Kept) -> None:
    page = (kept.root / "b.html").read_text(encoding="utf-8")

    for text in (
        "Where may I park?",
        "answer: In the garage.\noutcome: Says garage.",
        "I cannot say, please.",
    ):
        assert f'<div class="read plain" dir="auto">{text}</div>' in page


def test_junit_has_it_in_the_body_of_a_failure(kept: Kept) -> None:
    assert (
        "asked: Where may I park?\n\nexpected: answer: In the garage.\noutcome: Says garage.\n\n"
        "answered: I cannot say, please."
    ) in kept.said["junit"].stdout


def test_a_data_frame_has_it_as_text(kept: Kept) -> None:
    frame = Run(
        run_id="b",
        status="completed",
        folder=kept.root / "b",
        metrics=read_run(kept.root / "b").metrics,
    ).to_frame()

    assert frame["request"].to_list()[3] == "Where may I park?"
    assert frame["expected"].to_list()[0] == "outcome: Says nine."


def test_a_comparison_page_shows_question_and_both_answers(tmp_path: Path) -> None:
    responses = write_desk(tmp_path) / "responses" / "both.jsonl"
    done = run_many(
        tmp_path,
        [
            ("run", "datasets/desk.jsonl", "--responses", str(responses)),
            ("compare", "latest~1", "latest", "--format", "html", "-o", "page.html"),
        ],
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert [one.code for one in done] == [0, 0]
    for text in ("When do you open?", "<del>nine, ann</del>", "<ins>No idea.</ins>"):
        assert f'<div dir="auto" class="read plain">{text}</div>' in page
    assert '<div class="plain" dir="auto">outcome: Says nine.</div>' in page


def test_a_recording_was_not_sent(tmp_path: Path) -> None:
    write_desk(tmp_path)
    run = ("run", "datasets/desk.jsonl", "--responses", "responses/both.jsonl")
    done = run_many(tmp_path, [run, ("show", "latest", "hours"), ("show", "latest", "0", *JSON)])
    request = json.loads(done[2].stdout)["records"][0]["request"]

    assert (request["sent"], request["messages"][0]["content"]) == (False, "When do you open?")
    assert "  not sent; this would have been asked:\n  user: When do you open?\n" in done[1].stdout
