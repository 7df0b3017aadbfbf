"""`steelyard demo`: it works at once, anywhere, without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from fakes.warm_command import COVERAGE
from pseudo_terminal import in_terminal
from servers.review_service import Reviewer
from servers.service import running
from steelyard.project import open_project

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

BUNDLE = Path(__file__).parents[2] / "src" / "steelyard" / "demo" / "project"
OFFLINE = """
import sys

def watch(event, arguments):
    if event in {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"}:
        raise AssertionError(f"the demo used the network: {event} {arguments}")

sys.addaudithook(watch)
from steelyard.cli.main import main

sys.argv = ["steelyard", "demo", "--no-serve"]
try:
    main()
finally:
    if "aiohttp" in sys.modules:
        raise AssertionError("the demo loaded a client for the network")
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has run once, with no network."""
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="module")
def demo(empty: Path) -> subprocess.CompletedProcess[str]:
    """The demo, run where every use of a socket fails."""
    return subprocess.run(
        [sys.executable, "-c", OFFLINE],
        cwd=empty,
        env={**os.environ, **COVERAGE},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def project(demo: subprocess.CompletedProcess[str], empty: Path) -> Path:
    """The project, after the demo."""
    assert demo.returncode == 0, demo.stderr
    return empty / "steelyard-demo"


@pytest.fixture(scope="module")
def predictions(project: Path) -> list[dict[str, Any]]:
    """The rows of all its runs; read before the demo is run again."""
    runs = (project / ".steelyard" / "runs").glob("*/predictions.jsonl")
    return [row for path in runs for row in rows_of(path)]


def test_the_demo_runs_in_an_empty_folder_without_a_network(
    demo: subprocess.CompletedProcess[str], empty: Path
) -> None:
    assert demo.returncode == 0
    assert "this is a bug" not in demo.stderr
    assert (empty / "steelyard-demo" / "steelyard.yaml").is_file()


@pytest.mark.parametrize(
    "told",
    [
        "$ steelyard validate datasets rubrics judges",
        "unknown field 'expecteed_facts' [unknown_field]",
        "= did you mean 'expected_facts'?",
        "$ steelyard run datasets/helpdesk.jsonl --target assistant_a --target assistant_b",
        "1 retried",
        "lowest     tags = fees",
        "(exit code 4)",
        "fees-blocked-card  timeout",
        "rules-quiz × assistant_b  completed",
        "by judge/questionnaire@1.0.0",
        "n = 47, 1 unscored  by judge/helpful@1.0.0",
        "by judge/helpful@1.0.0, judge/careful@1.0.0",
        "uncorrected  judge/helpful@1.0.0 has never been validated",
        "50 label(s) read = 50 imported + 0 unchanged + 0 refused",
        "2 not blind",
        "A queue with 8 conversations waits for you on the page /review",
        "Answer three by keyboard, before you open the run of these conversations",
        "left out: 4 not blind",
        "answers that it must fail: praise, padded_list",
        "changed   predictions.jsonl",
        "wrote report.html",
    ],
)
def test_the_demo_tells_its_story(demo: subprocess.CompletedProcess[str], told: str) -> None:
    assert told in demo.stdout


def test_both_runs_show_their_interval_and_denominators(
    demo: subprocess.CompletedProcess[str],
) -> None:
    rates = re.findall(r"pass rate  \d+\.\d % \[\d+\.\d, \d+\.\d\]  \d+ of \d+", demo.stdout)

    assert len(rates) >= 6


def test_fees_are_weak_for_both(demo: subprocess.CompletedProcess[str]) -> None:
    runs = demo.stdout.split("2. Run A and B")[1].split("3. Look")[0]

    assert runs.count("lowest     tags = fees") == 2


def test_the_judge_prefers_b_and_the_corrected_rates_do_not(
    demo: subprocess.CompletedProcess[str],
) -> None:
    raw, corrected = demo.stdout.split("$ steelyard compare ")[1:]

    said = "  verdict    B is better than A, as the judge sees it (raw, not corrected)\n"
    assert said in raw
    assert "corrected by people's labels" not in raw
    assert "  verdict    no difference detectable between A and B, corrected by" in corrected
    assert "; as the judge sees it: better" in corrected


def test_the_judge_is_too_kind(demo: subprocess.CompletedProcess[str]) -> None:
    validated = demo.stdout.split("$ steelyard judge validate ")[1].split("$ steelyard")[0]
    tpr, tnr = re.findall(r"^  T[PN]R +(\d+\.\d) % \[", validated, re.MULTILINE)

    assert float(tpr) > 90
    assert float(tnr) < 50
    assert validated.count("corrected ") == 2


def test_who_grades_what_is_said_before_the_run(demo: subprocess.CompletedProcess[str]) -> None:
    said = demo.stderr

    assert "graded by their own expectations: 48 records" in said
    assert "graded by rubric/helpdesk@1.0.0 (2 checks): 48 records" in said
    assert "asking judge/helpful@1.0.0 by target helpful_replies" in said
    assert "asking judge/careful@1.0.0 by target careful_replies" in said
    assert "asking judge/questionnaire@1.0.0 by target question_replies" in said
    assert "no reply of a judge was recorded" not in said


def test_the_demo_ends_on_a_report(project: Path) -> None:
    page = (project / "report.html").read_text(encoding="utf-8")

    assert "library-helpdesk × assistant_b" in page


@pytest.mark.usefixtures("predictions")
@pytest.mark.trials
def test_the_demo_can_be_run_again_in_the_same_folder(steelyard: Steelyard, empty: Path) -> None:
    again = steelyard("demo", cwd=empty)

    assert again.returncode == 0
    assert "changed   predictions.jsonl" in again.stdout


def test_the_commands_of_the_demo_work_when_a_user_types_them(
    steelyard: Steelyard, demo: subprocess.CompletedProcess[str], project: Path
) -> None:
    done = steelyard("validate", "datasets", "rubrics", "judges", cwd=project)

    assert done.returncode == 0
    assert done.stdout in demo.stdout


def test_a_folder_with_other_things_is_left_alone(steelyard: Steelyard, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    done = steelyard("demo", ".", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "steelyard: . is not empty; name another folder for the demo\n"
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_readme_shows_what_the_demo_really_prints(
    demo: subprocess.CompletedProcess[str],
) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = readme.split("## Examples")[1].split("From Python")[0].split("```\n")[1::2]

    assert len(shown) == 3
    for block in shown:
        assert block in demo.stdout


def test_every_quote_of_a_judge_is_in_the_answer_it_judged(
    predictions: list[dict[str, Any]],
) -> None:
    calls = list(judge_calls(predictions))
    unfounded = [call for call in calls if call.get("evidence_found") is False]

    assert len(calls) > 400
    assert unfounded == []


def test_canaries_replace_the_answers_to_different_cases(
    predictions: list[dict[str, Any]],
) -> None:
    """Cases that are labelled in both runs count once."""
    names = [row["record_id"] for row in predictions if row["record_id"].startswith("praise ")]

    assert len(names) == len(set(names)) == 3


def test_the_run_of_canaries_shows_what_the_judge_passed_and_claims_no_drift(
    steelyard: Steelyard, project: Path
) -> None:
    listed = steelyard("runs", cwd=project).stdout.splitlines()
    name = next(line.split()[0] for line in listed if "canaries × canaries" in line)
    shown = steelyard("show", name, cwd=project).stdout

    assert "  canaries: 4 of 36 answers that must fail were passed\n" in shown
    assert "drift" not in shown
    assert "passed, though they must fail:\n  praise " in shown
    assert any("4 of 36 that must fail passed" in line for line in listed)


def test_a_judge_that_refused_is_counted_and_is_no_zero(predictions: list[dict[str, Any]]) -> None:
    rows = [row for row in predictions if row["status"] == "evaluation_error"]

    assert [row["record_id"] for row in rows] == ["privacy-police"]
    assert (rows[0]["score"], rows[0]["passed"]) == (None, None)
    assert rows[0]["evaluator_scores"][0]["reason"].startswith("refusal")


def test_replies_are_found_on_several_rungs(predictions: list[dict[str, Any]]) -> None:
    rungs = Counter(call["rung"] for call in judge_calls(predictions))

    assert rungs["native"] > 400
    assert rungs["stripped"] >= 4
    assert rungs["asked_again"] == 1


def test_the_labels_are_a_random_third_of_the_answers_by_three_people() -> None:
    for assistant in "ab":
        labels = rows_of(BUNDLE / "labels" / f"assistant_{assistant}.jsonl")
        blind = [label for label in labels if label["exposure"] == "blind"]
        people = Counter(label["annotator"] for label in blind)

        assert people == {"jonas": 16, "mara": 16, "odile": 16}
        assert {label["inclusion_prob"] for label in blind} == {16 / 48}
        assert len(labels) - len(blind) == 2


def test_the_bundle_is_small() -> None:
    files = [path for path in BUNDLE.rglob("*") if path.is_file()]

    assert sum(path.stat().st_size for path in files) < 1_000_000


def judge_calls(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What was kept of every call to a judge."""
    for row in rows:
        for score in row["evaluator_scores"]:
            details = score["details"]
            yield from details.get("calls", ())
            yield from details.get("items", ())
            for juror in details.get("jurors", ()):
                yield from juror["calls"]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_demo_names_the_command_that_serves_its_pages(
    demo: subprocess.CompletedProcess[str],
) -> None:
    """Where nobody looks at a terminal, it ends by itself."""
    assert demo.returncode == 0
    assert "steelyard serve" in demo.stdout.splitlines()[-1]


@pytest.mark.trials
def test_the_demo_serves_its_pages_until_it_is_stopped(tmp_path: Path) -> None:
    """With --serve it prints their addresses; Ctrl-C is a good end."""
    command = [sys.executable, "-P", "-m", "steelyard", "demo", "--serve", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            compared = next(line for line in process.stdout if "/compare?a=" in line)
            answer = httpx.get(compared.strip().split("/compare")[0] + "/", timeout=30)
            assert answer.status_code == 200
            process.send_signal(signal.SIGINT)
            assert "Stopped" in process.stdout.read()
            assert process.wait(30) == 0
        finally:
            process.kill()


@pytest.mark.trials
def test_the_demo_serves_its_pages_on_a_terminal(tmp_path: Path) -> None:
    """Nobody needs to know the option to see them; Ctrl-C typed there is a good end."""
    command = [sys.executable, "-P", "-m", "steelyard", "demo", "--port", "0"]
    found: list[int] = []

    def stop(text: str, pid: int) -> None:
        addresses = re.findall(r"(http://\S+)/compare", text)
        if addresses and not found:
            found.append(httpx.get(f"{addresses[0]}/", timeout=30).status_code)
            os.kill(pid, signal.SIGINT)

    said = in_terminal(command, tmp_path, os.environ, watch=stop)

    assert found == [200]
    assert "Stopped" in said


def test_answering_three_items_of_the_demos_queue_moves_its_agreement(
    project: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(project, tmp_path / "copy")
    answers = {"trace": {"solved": 1, "tools": 5}, "turns": {}}
    with (
        open_project(copy) as opened,
        running(opened) as url,
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        queue = client.get("/v1/queues").json()["data"][0]
        me = Reviewer(client, "ann")
        for _ in range(3):
            item = me.claimed(queue["queue_id"])
            assert me.write(item, "submit", answers=answers).status_code == 200
        found = client.get(f"/v1/agreement/{queue['queue_id']}").json()

    assert queue["items"] == 8
    assert found["labels"] == 3
    solved = next(one for one in found["questions"] if one["key"] == "solved")
    assert solved["judge"]["items"] == 3
