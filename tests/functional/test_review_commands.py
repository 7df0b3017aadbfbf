"""`review`: from a run to labels to agreement, as a user does it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import Done, run_many
from fakes.review_project import answers, jsonl, label, write_review
from steelyard.model.labels.queue import QueueSource
from steelyard.project import open_project
from steelyard.usecases.review.queues.create_queue import Fill, NewQueue, create_queue
from steelyard.usecases.review.queues.queue_rubric import rubric_of

JSON = ("--format", "json")
RUN = ("run", "desk.json", "--target", "desk", *JSON, "--rubric")
AGREEMENT = ("review", "agreement")
ASSIGN = ("review", "assign", "--count", "10")


def labels(run_id: str) -> list[dict[str, Any]]:
    """What two people say of a run: ann as the judge does, the other one not always."""
    rows: list[dict[str, Any]] = []
    for number in range(36):
        about = {"run_id": run_id, "inclusion_prob": 0.9}
        other = answers(number, correct=int(number % 7 != 0), note="mo@library.org told me")
        rows.append(label(number, "ann", **about, answers=answers(number)))
        rows.append(label(number, "bob@library.org", **about, answers=other))
    seen = label(38, "ann", run_id=run_id, exposure="suggested", answers=answers(38))
    return [*rows, seen, label(37, "ann", run_id=run_id, rubric="verdict", passed=True)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Done]:
    """What every command said, by name."""
    root = write_review(tmp_path_factory.mktemp("review"))
    asked, heard = run_many(root, [(*RUN, "rubric/desk-v1"), (*RUN, "rubric/jury@1.0.0")])
    first, jury = (json.loads(one.stdout)["run_id"] for one in (asked, heard))
    jsonl(root / "labels.jsonl", labels(first))
    wrong = label(0, "ann", run_id=first, answers=answers(0, quality=9))
    shortened = label(1, "ann", run_id=first[:-1], passed=True)
    changed = label(1, "ann", run_id=first, answers=answers(2))
    jsonl(root / "wrong.jsonl", [wrong, changed, shortened])
    jsonl(root / "changed.jsonl", [changed])
    (root / "empty.jsonl").write_text("", encoding="utf-8")
    folder = str(Path(".steelyard/runs") / first)
    commands: dict[str, tuple[str, ...]] = {
        "nothing yet": AGREEMENT,
        "import": ("review", "import", "labels.jsonl"),
        "again": ("review", "import", "labels.jsonl", *JSON),
        "wrong": ("review", "import", "wrong.jsonl"),
        "replace": ("review", "import", "changed.jsonl", "--replace"),
        "empty": ("review", "import", "empty.jsonl"),
        "no file": ("review", "import", "gone.jsonl"),
        "people": (*AGREEMENT, "--rubric", "desk-v1"),
        "judge": (*AGREEMENT, folder, *JSON),
        "verdict": (*AGREEMENT, first, "--rubric", "verdict"),
        "check without run": (*AGREEMENT, "--check", "questions"),
        "unknown run": (*AGREEMENT, "run_unknown"),
        "regrade": ("regrade", first, "--rubric", "rubric/outer@1.0.0", *JSON),
        "regraded": (*AGREEMENT, "latest", "--rubric", "desk-v1", *JSON),
        "export": ("review", "export", "-o", "out.jsonl"),
        "export again": ("review", "export", "-o", "out.jsonl"),
        "export json": ("review", "export", "-o", "out.jsonl", "--force", "--history", *JSON),
        "export stdout": ("review", "export", "--annotator", "ann", "--run", first),
        "export nothing": ("review", "export", "--annotator", "nobody"),
        "export json nowhere": ("review", "export", *JSON),
        "import exported": ("review", "import", "out.jsonl", *JSON),
        "export table": ("review", "export", "--to", "csv", "-o", "out.csv"),
        "import table": ("review", "import", "out.csv", *JSON),
        "assign": (*ASSIGN, first),
        "assign file": (*ASSIGN, jury, "--by", "jury_split", "-o", "stubs.jsonl"),
        "assign over": (*ASSIGN, jury, "-o", "stubs.jsonl"),
        "assign json": (*ASSIGN, jury, "--by", "near_threshold", *JSON),
        "assign strata": (
            *(*ASSIGN, first, "--by", "stratified", "--slice", "tags", "--allocation", "equal"),
            *("--annotator", "ann", "--annotator", "bob", "--seed", "4", "-o", "strata.jsonl"),
        ),
        "assign verdict": (*ASSIGN, first, "--by", "verdict"),
        "assign new": (*ASSIGN[:-1], "4", first, "--new"),
        "assign too few": (*ASSIGN[:-1], "3", first, "--by", "stratified", "--slice", "tags"),
        "assign slice": (*ASSIGN, first, "--slice", "tags"),
        "assign no jury": (*ASSIGN, first, "--by", "jury_split"),
        "assign nowhere": (*ASSIGN, first, "-o", "labels.jsonl/x.jsonl"),
        "stubs": ("review", "import", "stubs.jsonl"),
    }
    done = dict(zip(commands, run_many(root, list(commands.values())), strict=True))
    stored = (root / ".steelyard" / "steelyard.db").read_bytes()
    stored += (
        (root / ".steelyard" / "steelyard.db-wal").read_bytes()
        if (root / ".steelyard" / "steelyard.db-wal").exists()
        else b""
    )
    assert b"library.org" not in stored
    for name in ("strata.jsonl", "stubs.jsonl"):
        done[name] = Done(0, (root / name).read_text(encoding="utf-8"), "")
    return done


def rows(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def question(done: Done, key: str) -> dict[str, Any]:
    found = json.loads(done.stdout)["rubrics"][0]["questions"]
    return next(one for one in found if one["key"] == key)


def test_labels_come_in_once_and_what_was_read_adds_up(told: dict[str, Done]) -> None:
    again = json.loads(told["again"].stdout)

    assert told["import"].code == 0
    assert "74 label(s) read = 74 imported + 0 unchanged + 0 refused" in told["import"].stdout
    assert "redacted before storing: email 36" in told["import"].stdout
    assert "1 annotator(s) stored as person-…" in told["import"].stdout
    assert (again["read"], again["imported"], again["same"], again["refused"]) == (74, 0, 74, 0)


def test_wrong_labels_are_refused_one_by_one_with_exit_1(told: dict[str, Done]) -> None:
    assert told["wrong"].code == 1
    assert "wrong.jsonl:1: error: answers.trace.quality" in told["wrong"].stdout
    assert "wrong.jsonl:2: error: record_id: ann said something else" in told["wrong"].stdout
    assert "--replace keeps this one" in told["wrong"].stdout
    assert "labels name the whole id" in told["wrong"].stdout
    assert "3 label(s) read = 0 imported + 0 unchanged + 3 refused" in told["wrong"].stdout
    assert told["replace"].code == 0
    assert "1 of the imported replace earlier labels" in told["replace"].stdout
    assert told["stubs"].code == 1
    assert "10 refused" in told["stubs"].stdout


def test_people_are_compared_question_by_question(told: dict[str, Done]) -> None:
    said = told["people"].stdout

    assert told["people"].code == 0
    assert "rubric/desk-v1  73 labels by 2 people: 72 blind, 1 not blind" in said
    assert (
        "  correct  yes_no  Is it right?\n    people  36 items, 72 answers of 2 people\n" in said
    )
    for name in ("kappa", "AC1", "alpha ordinal", "weighted kappa", "Spearman", "Jaccard"):
        assert f"      {name}" in said
    assert "  turn_ok  button_group, each turn" in said
    assert "    judge" not in said


def test_the_judge_stands_beside_blind_people_from_the_folder(told: dict[str, Done]) -> None:
    found = json.loads(told["judge"].stdout)["rubrics"][0]
    correct, quality = question(told["judge"], "correct"), question(told["judge"], "quality")

    assert found["judged_by"] == ["questions", "judge/questionnaire@1.0.0"]
    assert {one["name"] for one in correct["judge"]["estimates"]} >= {"tpr", "tnr", "kappa", "ac1"}
    assert correct["judge"]["left_out"]["answers that were not given blind"] == 1
    assert correct["judge"]["left_out"]["items with tied labels"] > 0
    assert correct["alternative"]["people"] == 2
    # ann changed her mind about one record, and says of it what the judge says of another
    assert [one["item"]["record_id"] for one in quality["people"]["disagreements"]] == ["r01"]
    assert quality["judge"]["items"] == 36
    signed = {one["name"]: one for one in quality["judge"]["estimates"]}
    assert abs(signed["judge_minus_people"]["value"]) <= signed["mae"]["value"]
    assert "judge_minus_people" not in {one["name"] for one in quality["people"]["estimates"]}
    assert "note" not in {one["key"] for one in found["questions"]}


def test_plain_passes_stand_beside_the_verdict(told: dict[str, Done]) -> None:
    assert "  compared with people  verdict" in told["verdict"].stdout
    assert "    verdict  1 item, 1 answer of 1 person" in told["verdict"].stdout
    assert "    judge  " not in told["verdict"].stdout
    assert "not enough data" in told["verdict"].stdout


def test_labels_count_for_a_run_that_grades_the_same_responses(told: dict[str, Done]) -> None:
    found = json.loads(told["regraded"].stdout)["rubrics"][0]

    assert found["judged_by"] == ["asked/questions", "judge/questionnaire@1.0.0"]
    assert question(told["regraded"], "correct")["judge"]["items"] > 0


def test_labels_go_out_as_they_come_in(told: dict[str, Done]) -> None:
    assert told["export"].stdout == "wrote 74 label(s) to out.jsonl\n"
    assert "out.jsonl exists; --force writes over it" in told["export again"].stderr
    assert json.loads(told["export json"].stdout) == {"file": "out.jsonl", "labels": 75, "gold": 0}
    own = rows(told["export stdout"])
    assert {row["annotator"] for row in own} == {"ann"}
    assert len(own) == 38
    # with its history a file says two things about one record
    assert json.loads(told["import exported"].stdout)["refused"] > 0


def test_a_table_goes_out_and_comes_in_as_it_was(told: dict[str, Done]) -> None:
    found = json.loads(told["import table"].stdout)

    assert told["export table"].stdout == "wrote 74 label(s) to out.csv\n"
    assert (found["read"], found["same"], found["refused"]) == (74, 74, 0)


def test_records_are_drawn_and_written_to_be_filled_in(told: dict[str, Done]) -> None:
    drawn = rows(told["assign"])

    assert len(drawn) == 10
    assert {row["inclusion_prob"] for row in drawn} == {10 / 39}
    assert {row["rubric"] for row in drawn} == {"rubric/desk-v1"}
    assert "10 of 39 records" in told["assign"].stderr
    assert "left out: 1 without a response" in told["assign"].stderr
    assert "the more divided the jury, the likelier" in told["assign file"].stdout
    assert len({row["inclusion_prob"] for row in rows(told["stubs.jsonl"])}) > 1


def test_strata_give_equally_many_to_each_person(told: dict[str, Done]) -> None:
    drawn = rows(told["strata.jsonl"])

    assert [row["annotator"] for row in drawn] == ["ann"] * 10 + ["bob"] * 10
    assert not any("stratum" in row for row in drawn)
    assert "  even + first  2 of 2" in told["assign strata"].stdout


def test_verdicts_give_equally_many(told: dict[str, Done]) -> None:
    drawn = rows(told["assign verdict"])

    assert len(drawn) == 10
    assert "  passed  5 of" in told["assign verdict"].stderr
    assert "  failed  5 of" in told["assign verdict"].stderr


def test_programs_get_the_whole_sample(told: dict[str, Done]) -> None:
    found = json.loads(told["assign json"].stdout)

    assert (found["by"], found["threshold"], found["of"], found["file"]) == (
        *("near_threshold", 0.6, 39),
        None,
    )
    assert sum(one["inclusion_prob"] > 0 for one in found["assigned"]) == 10


def test_records_without_a_label_can_be_asked_for(told: dict[str, Done]) -> None:
    assert told["assign new"].code == 2
    assert "4 records are asked for, and 2 can be chosen" in told["assign new"].stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing yet", "`steelyard review import` brings labels in"),
        ("empty", "empty.jsonl holds no label"),
        ("no file", "cannot read gone.jsonl"),
        ("check without run", "--check names a check of a run"),
        ("unknown run", "run_unknown"),
        ("export nothing", "no label fits"),
        ("export json nowhere", "name one with -o"),
        ("assign over", "stubs.jsonl exists; --force writes over it"),
        ("assign too few", "there are 4 strata"),
        ("assign slice", "choose --by stratified"),
        ("assign no jury", "no response was looked at by a jury"),
        ("assign nowhere", "cannot write labels.jsonl/x.jsonl"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_2(
    told: dict[str, Done], name: str, said: str
) -> None:
    assert told[name].code == 2
    assert said in told[name].stderr
    assert "Traceback" not in told[name].stderr


def test_a_table_is_filled_in_and_imported(tmp_path: Path) -> None:
    root = write_review(tmp_path)
    (asked,) = run_many(root, [(*RUN, "rubric/desk-v1")])
    run_id = json.loads(asked.stdout)["run_id"]
    sheet = ("review", "assign", run_id, "--count", "3", "--annotator", "ann", "--to", "csv")
    (written, to_nowhere) = run_many(root, [(*sheet, "-o", "s.csv"), sheet])
    with (root / "s.csv").open(encoding="utf-8", newline="") as stream:
        header, *table = csv.reader(stream)
    table = [
        [*row[:4], *("4" if name == "quality" else "" for name in header[4:])] for row in table
    ]
    for row in table:
        row[header.index("correct")] = "yes"
    with (root / "s.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([header, *table])
    blind = ("show", run_id, table[0][0], "--blind")
    done = run_many(
        root, [("review", "import", "s.csv", *JSON), blind, ("show", run_id, "--blind")]
    )

    assert "3 of 39 records" in written.stdout
    assert "name the table with -o" in to_nowhere.stderr
    assert (json.loads(done[0].stdout)["imported"], done[0].code) == (3, 0)
    assert "check" not in done[1].stdout
    assert done[1].stdout.count("Question ") == 1
    assert "name it after the run" in done[2].stderr


def test_sheets_are_for_reading_too_and_a_foreign_table_names_its_columns(tmp_path: Path) -> None:
    root = write_review(tmp_path)
    (asked,) = run_many(root, [(*RUN, "rubric/desk-v1")])
    run_id = json.loads(asked.stdout)["run_id"]
    sheet = ("review", "assign", run_id, "--count", "3")
    (root / "own.csv").write_text("Case;Right?\nr04;yes\nr05;0\n", encoding="utf-8")
    table = ("review", "import", "own.csv", "--run", run_id, "--rubric", "rubric/desk-v1")
    table = (*table, "--annotator", "ann", "--exposure", "suggested", *JSON)
    mapped = ("--map", "record_id=Case", "--map", "correct=Right?")
    page, text, done, unmapped = run_many(
        root,
        [
            (*sheet, "--to", "html", "-o", "s.html"),
            (*sheet, "--to", "md", "-o", "s.md"),
            (*table, *mapped),
            table,
        ],
    )

    assert (page.code, text.code) == (0, 0), page.stderr + text.stderr
    for name in ("s.html", "s.md"):
        written = (root / name).read_text(encoding="utf-8")
        assert written.count("Is it right?") == 3
        assert len(set(re.findall(r"Answer number [0-9]+", written))) == 3
        assert "about correct" not in written  # the reasoning of the judge
    assert (json.loads(done.stdout)["imported"], done.code) == (2, 0)
    assert unmapped.code == 2
    assert "record_id" in unmapped.stderr


def test_a_judge_answers_the_items_of_a_queue_from_the_shell(tmp_path: Path) -> None:
    root = write_review(tmp_path)
    asked, empty = run_many(root, [(*RUN, "rubric/jury@1.0.0"), ("review", "queues")])
    source = QueueSource(kind="run", id=json.loads(asked.stdout)["run_id"])
    with open_project(root) as project:
        new = NewQueue(name="Desk", source=source, fill=Fill(size=4), rubric="desk-v1")
        queue = create_queue(project.queue_ports(), new).queue.queue_id
    judged, unknown = run_many(
        root, [("review", "judge", queue, *JSON), ("review", "judge", "queue_unknown")]
    )
    listed, shown = run_many(root, [("review", "queues", *JSON), ("review", "queues")])
    run_id = json.loads(judged.stdout)["run_id"]
    with open_project(root) as project:
        ports = project.queue_ports()
        source = ports.source(QueueSource(kind="run", id=run_id))
        rubric = rubric_of(ports.queues.find(queue))
        found = [source.judged(rubric, one.index, 0) for one in ports.queues.items(queue)]

    assert (judged.code, unknown.code) == (0, 2)
    assert "there is no review queue 'queue_unknown'" in unknown.stderr
    assert json.loads(judged.stdout)["metrics"]["total_records"] == 4
    assert all(one[0].judge == "judge/questionnaire@1.0.0" for one in found)
    (row,) = json.loads(listed.stdout)["data"]
    assert (row["queue_id"], row["items"], row["judged_in"]) == (queue, 4, [run_id])
    assert "0 of 4 items finished  judged in 1 run(s)" in shown.stdout
    assert "no review queue yet" in empty.stdout
