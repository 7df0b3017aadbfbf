"""`steelyard run` with a judge behind a real endpoint: probed, retried, stopped and resumed."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from checker import Trial, check_run, stored_judgements, stored_predictions
from fakes.warm_command import Done, WarmCommand
from servers.judge_server import JUDGE_MODEL, JudgeEndpoint

pytestmark = pytest.mark.trials

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
RECORDS = 60
AT_ONCE = 4
RUBRIC = """\
id: right
version: 1.0.0
checks:
  - {id: says_nine, kind: must_contain_any, phrases: [nine]}
  - {id: accurate, kind: llm_judge, judge_prompt_ref: judge/accuracy@1.0.0}
scoring: {combine: all_pass}
"""
SETTINGS = """\
targets:
  live: {{provider: openai, base_url: '{0}', model: m, max_concurrency: {1}}}
  judge: {{provider: openai, base_url: '{0}', model: j, max_concurrency: {1}, price: {2}}}
judges: {{default: {{target: judge}}}}
retry: {{backoff_s: [0.01]}}
"""
RUN = ("run", "d.json", "--target", "live", "--rubric", "rubric/right@1.0.0", "--format", "json")


def write_project(root: Path, endpoint: JudgeEndpoint, count: int = RECORDS) -> None:
    """A project with a target, a judge and a document of some records."""
    root.mkdir(exist_ok=True)
    (root / "rubrics").mkdir()
    (root / "rubrics" / "right.yaml").write_text(RUBRIC, encoding="utf-8")
    settings = SETTINGS.format(endpoint.url, AT_ONCE, "{input: 1000, output: 1000}")
    (root / "steelyard.yaml").write_text(settings, encoding="utf-8")
    records = [{"record_id": f"r{n}", "input": {"prompt": f"When? {n}"}} for n in range(count)]
    head = {"dataset_id": "d", "dataset_version": "1", "schema_version": "1.0"}
    (root / "d.json").write_text(json.dumps({**head, "records": records}), encoding="utf-8")


@pytest.fixture
def endpoint() -> Iterator[JudgeEndpoint]:
    """An endpoint of its own for each test."""
    with JudgeEndpoint().serving() as made:
        yield made


@pytest.fixture(scope="module")
def command() -> Generator[WarmCommand]:
    """The command, which starts at once."""
    with closing(WarmCommand(is_measured=False)) as made:
        yield made


def newest(root: Path) -> Path | None:
    """The folder of the last run, which may not be there yet."""
    try:
        connection = sqlite3.connect(f"file:{root}/.steelyard/steelyard.db?mode=ro", uri=True)
        found = connection.execute("SELECT max(run_id) FROM runs").fetchone()
        connection.close()
    except sqlite3.OperationalError:
        return None
    return root / ".steelyard" / "runs" / found[0] if found and found[0] else None


def ended(command: WarmCommand, root: Path, *words: str) -> Done:
    command.start(root, *words)
    return command.wait()


def of_run(root: Path, name: str) -> Any:
    folder = newest(root)
    assert folder
    text = (folder / name).read_text(encoding="utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def test_an_endpoint_that_holds_to_a_schema_is_found_out_and_trusted(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=6)
    done = ended(command, tmp_path / "p", *RUN)
    (judge,) = of_run(tmp_path / "p", "run_manifest.json")["judges"]
    metrics = of_run(tmp_path / "p", "metrics_summary.json")
    details = of_run(tmp_path / "p", "predictions.jsonl")[0]["evaluator_scores"][1]["details"]

    assert (done.code, done.stderr.count("schema")) == (0, 0), done.stderr
    assert (endpoint.probes, endpoint.schemas) == (1, 7)
    assert (judge["judge"], judge["target"], judge["model"]) == (
        *("judge/accuracy@1.0.0", "judge"),
        JUDGE_MODEL,
    )
    assert judge["enforced"] is True
    assert details["calls"][0]["is_enforced"] is True
    assert details["calls"][0]["fingerprint"] in judge["fingerprints"]
    assert (metrics["judging"]["calls"], metrics["judging"]["tokens"]["total"]) == (6, 90)
    assert metrics["cost_usd"]["judging"] == pytest.approx(7 * 0.015)
    folder = newest(tmp_path / "p")
    assert folder
    check_run(folder, Trial(calls=6, judge_calls=7))


def test_the_manifest_tells_how_judges_were_asked_and_what_the_probe_took(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=2)
    done = ended(command, tmp_path / "p", *RUN)
    manifest = of_run(tmp_path / "p", "run_manifest.json")
    metrics = of_run(tmp_path / "p", "metrics_summary.json")
    attempts = of_run(tmp_path / "p", "attempt_logs.jsonl")
    (probe,) = manifest["probes"]

    assert done.code == 0
    asked = manifest["judge_targets"]["judge"]
    assert (asked["provider"], asked["model"], asked["base_url"]) == ("openai", "j", endpoint.url)
    assert (probe["target"], probe["enforced"], probe["attempts"]) == ("judge", True, 1)
    assert (probe["input_tokens"] + probe["output_tokens"], probe["cost_usd"]) == (15, 0.015)
    assert metrics["probes"]["calls"] == 1
    assert metrics["probes"]["cost_usd"] == 0.015
    assert metrics["cost_usd"]["total"] == pytest.approx(3 * 0.015)
    assert [(row["call"], row["http_status"]) for row in attempts] == [
        ("probe", 200),
        *[("target", 200), ("judge/accuracy@1.0.0", 200)] * 2,
    ]


def test_a_probe_that_is_killed_has_a_row_of_its_own(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=2)
    endpoint.delay_s = 600
    command.start(tmp_path / "p", *RUN)
    deadline = time.monotonic() + 120
    while not endpoint.calls[JUDGE_MODEL] and time.monotonic() < deadline:
        time.sleep(0.02)
    command.kill()
    endpoint.delay_s = 0.005
    done = ended(command, tmp_path / "p", "resume", "latest", "--format", "json")
    probes = [row for row in of_run(tmp_path / "p", "attempt_logs.jsonl") if row["index"] is None]

    assert done.code == 0, done.stderr
    assert [(row["call"], row["error_code"]) for row in probes] == [
        ("probe", "interrupted"),
        ("probe", None),
    ]
    assert of_run(tmp_path / "p", "metrics_summary.json")["interrupted_calls"] == 1
    folder = newest(tmp_path / "p")
    assert folder
    check_run(folder, Trial(calls=2, judge_calls=4, kills=1, concurrency=AT_ONCE))


def test_an_endpoint_that_ignores_the_schema_is_told_in_words_and_counted_where_it_fails(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    endpoint.is_held, endpoint.said = False, "I would say it is rather good."
    write_project(tmp_path / "p", endpoint, count=4)
    done = ended(command, tmp_path / "p", *RUN)
    (judge,) = of_run(tmp_path / "p", "run_manifest.json")["judges"]
    metrics = of_run(tmp_path / "p", "metrics_summary.json")
    failures = of_run(tmp_path / "p", "failures.jsonl")

    assert done.code == 4
    assert done.stderr.count("does not hold its model to a schema") == 1
    assert judge["enforced"] is False
    assert (endpoint.probes, endpoint.schemas) == (1, 1)
    # each is asked once more with what was wrong with the first reply
    assert endpoint.calls[JUDGE_MODEL] == 1 + 2 * 4
    assert (metrics["unscored_count"], metrics["evaluated_records"]) == (4, 0)
    assert metrics["checks"]["accurate"]["unscored"] == 4
    assert {row["label"] for row in failures} == {"judge"}


def test_fenced_json_from_such_an_endpoint_is_read(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    endpoint.is_held, endpoint.said = False, f"```json\n{endpoint.said}\n```"
    write_project(tmp_path / "p", endpoint, count=2)
    done = ended(command, tmp_path / "p", *RUN)

    assert done.code == 0
    assert of_run(tmp_path / "p", "metrics_summary.json")["pass_count"] == 2


def busy(number: int) -> tuple[int, dict[str, Any]] | None:
    """Refuses most first tries, in different ways."""
    status = {0: 429, 1: 503, 2: 500}.get(number % 4)
    return (status, {"error": {"message": "busy"}}) if status and number < 9 else None


def test_a_judge_that_is_busy_is_asked_again(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    endpoint.fault = busy
    write_project(tmp_path / "p", endpoint, count=8)
    ended(command, tmp_path / "p", *RUN, "--allow-failures", "100%")
    made = [row for row in of_run(tmp_path / "p", "attempt_logs.jsonl") if row["call"] != "target"]

    assert {row["error_code"] for row in made} >= {None, "rate_limited", "service_unavailable"}
    assert all(row["retry_in_s"] is not None for row in made if row["http_status"] == 429)
    folder = newest(tmp_path / "p")
    assert folder
    check_run(folder, Trial(calls=8, judge_calls=endpoint.calls[JUDGE_MODEL]))


def test_a_judge_that_is_forbidden_leaves_every_record_unscored(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    endpoint.fault = lambda _: (401, {"error": {"message": "who are you?"}})
    write_project(tmp_path / "p", endpoint, count=3)
    done = ended(command, tmp_path / "p", *RUN)
    metrics = of_run(tmp_path / "p", "metrics_summary.json")
    manifest = of_run(tmp_path / "p", "run_manifest.json")

    assert done.code == 4
    assert (metrics["unscored_count"], metrics["pass_count"], metrics["fail_count"]) == (3, 0, 0)
    assert metrics["judging"]["unanswered"] == 3
    assert manifest["judges"][0]["enforced"] is None
    reasons = [row["message"] for row in of_run(tmp_path / "p", "failures.jsonl")]
    assert ["unauthorized" in reason for reason in reasons] == [True] * 3


def test_money_that_judges_have_spent_ends_the_run_and_is_counted(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=30)
    done = ended(command, tmp_path / "p", *RUN, "--budget", "0.2")
    metrics = of_run(tmp_path / "p", "metrics_summary.json")

    assert done.code == 4
    assert "the budget of $0.2" in done.stderr
    assert metrics["cancelled_records"] == 30 - metrics["evaluated_records"] > 0
    # a probe, and calls of $0.015 each: as many as fit, and those that were on their way
    assert 8 <= endpoint.calls[JUDGE_MODEL] <= 13 + AT_ONCE
    folder = newest(tmp_path / "p")
    assert folder
    # Calls that the cancel cuts off have rows of their own, as after a kill.
    check_run(folder, Trial(judge_calls=endpoint.calls[JUDGE_MODEL], kills=1, concurrency=4))


def test_two_processes_share_a_run_with_judges(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=150)
    done = ended(command, tmp_path / "p", *RUN, "--workers", "2")

    assert done.code == 0, done.stderr
    assert (endpoint.probes, endpoint.calls[JUDGE_MODEL]) == (1, 151)
    folder = newest(tmp_path / "p")
    assert folder
    check_run(folder, Trial(calls=150, judge_calls=151))


def test_a_question_that_was_judged_in_another_run_is_not_asked_again(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=5)
    ended(command, tmp_path / "p", *RUN)
    done = ended(command, tmp_path / "p", *RUN, "--cache")
    judging = of_run(tmp_path / "p", "metrics_summary.json")["judging"]

    assert done.code == 0
    assert endpoint.calls == {"m": 5, JUDGE_MODEL: 5 + 2}
    assert (judging["calls"], judging["cache"]["hits"]) == (0, 5)
    assert judging["cache"]["saved_usd"] == pytest.approx(5 * 0.015)


def test_a_record_is_shown_with_what_its_judge_was_told_and_said(
    steelyard: Steelyard, command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    root = tmp_path / "p"
    endpoint.fault = lambda number: (400, {"error": "odd"}) if number == 3 else None
    write_project(root, endpoint, count=2)
    ended(command, root, *RUN)
    shown = steelyard("show", "latest", "r0", "--format", "json", cwd=root)
    texts = [steelyard("show", "latest", name, cwd=root).stdout for name in ("r0", "r1")]
    judged = json.loads(shown.stdout)["judgements"]

    assert [one["judge"] for one in judged] == ["judge/accuracy@1.0.0"]
    assert [role for role, _ in judged[0]["prompt"]["messages"]] == ["system", "user"]
    assert all("  judge/accuracy@1.0.0 (check accurate) by target judge" in text for text in texts)
    assert sum('    reply: {"answers"' in text for text in texts) == 1
    assert sum("    failed: bad_request: HTTP 400: odd" in text for text in texts) == 1
    assert all("  attempt 1 of judge/accuracy@1.0.0 (check accurate)" in text for text in texts)


def killed_when(command: WarmCommand, endpoint: JudgeEndpoint, calls: int, delay_s: float) -> bool:
    """Kill soon after some calls; False when the command was done before."""
    wanted = endpoint.calls.total() + calls
    while not command.has_ended(within_s=0.001):
        if endpoint.calls.total() >= wanted:
            time.sleep(delay_s)
            return command.kill().code == -signal.SIGKILL
    return False


def test_kills_lose_no_answer_and_no_judgement(
    command: WarmCommand,
    endpoint: JudgeEndpoint,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_project(tmp_path / "whole", endpoint)
    assert ended(command, tmp_path / "whole", *RUN).code == 0
    whole, root, before = newest(tmp_path / "whole"), tmp_path / "p", endpoint.calls.copy()
    write_project(root, endpoint)
    chance, kills = random.Random(5), 0
    kept: dict[Any, bytes] = {}
    judged: dict[Any, bytes] = {}
    while True:
        folder = newest(root)
        if folder:
            kept.update(stored_predictions(folder))
            judged.update(stored_judgements(folder))
        words = ("resume", folder.name, "--format", "json") if folder else RUN
        command.start(root, *words)
        delay_s = chance.choice((0.0, chance.uniform(0.0, 0.06)))
        if kills == 10 or not killed_when(command, endpoint, chance.randint(1, 30), delay_s):
            break
        kills += 1
    done = command.wait()
    folder = newest(root)
    made = endpoint.calls - before
    with capsys.disabled():
        sys.stdout.write(f"[{kills} kills] ")

    assert done.code == 0, done.stderr
    assert kills >= 3
    assert folder
    assert whole
    trial = Trial(
        acknowledged=kept,
        judgements=judged,
        calls=made["m"],
        judge_calls=made[JUDGE_MODEL],
        kills=kills,
        concurrency=AT_ONCE,
        uninterrupted=whole,
    )
    check_run(folder, trial)


@pytest.mark.parametrize(
    "stop", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.trials)]
)
def test_a_run_that_is_interrupted_while_it_is_judged_goes_on_where_it_was(
    steelyard: Steelyard, endpoint: JudgeEndpoint, tmp_path: Path, stop: signal.Signals
) -> None:
    root = tmp_path / "p"
    endpoint.delay_s = 0.03
    write_project(root, endpoint)
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *RUN],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while endpoint.calls[JUDGE_MODEL] < 12:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(stop)
    process.communicate(timeout=120)
    asked_before = endpoint.calls[JUDGE_MODEL]
    folder = newest(root)
    assert folder
    judged = stored_judgements(folder)
    done = steelyard("resume", "latest", "--format", "json", cwd=root)

    assert process.returncode == 130
    assert asked_before < endpoint.calls[JUDGE_MODEL]
    assert done.returncode == 0, done.stderr
    assert judged
    trial = Trial(
        judgements=judged,
        calls=endpoint.calls["m"],
        judge_calls=endpoint.calls[JUDGE_MODEL],
        kills=1,
        concurrency=AT_ONCE,
    )
    check_run(folder, trial)


def test_a_run_is_cancelled_while_it_is_judged(
    steelyard: Steelyard, command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    root = tmp_path / "p"
    endpoint.delay_s = 0.03
    write_project(root, endpoint)
    command.start(root, *RUN)
    deadline = time.monotonic() + 120
    while endpoint.calls[JUDGE_MODEL] < 6:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    endpoint.delay_s = 1.0
    cancelled = steelyard("cancel", "latest", cwd=root)
    done = command.wait()
    rows = of_run(root, "predictions.jsonl")

    assert (cancelled.returncode, done.code) == (0, 130), cancelled.stderr
    assert {row["status"] for row in rows} == {"evaluated", "cancelled"}
    assert any(row["status"] == "cancelled" and row["trace"] for row in rows)
    folder = newest(root)
    assert folder
    # Calls that the cancel cuts off have rows of their own, as after a kill.
    check_run(folder, Trial(judge_calls=endpoint.calls[JUDGE_MODEL], kills=1, concurrency=4))


def test_what_only_judges_have_failed_is_judged_again_without_asking_the_target(
    command: WarmCommand, endpoint: JudgeEndpoint, tmp_path: Path
) -> None:
    write_project(tmp_path / "p", endpoint, count=6)
    endpoint.fault = lambda number: (403, {"error": {"message": "no"}}) if number > 5 else None
    first = ended(command, tmp_path / "p", *RUN)
    failed = of_run(tmp_path / "p", "metrics_summary.json")["failed_records"]
    asked, judged = endpoint.calls["m"], endpoint.calls[JUDGE_MODEL]
    endpoint.fault = None
    again = ended(command, tmp_path / "p", "retry", "latest", "--format", "json")
    metrics = json.loads(again.stdout)["metrics"]
    folder = newest(tmp_path / "p")

    assert (first.code, again.code) == (4, 0), again.stderr
    assert 0 < failed < 6
    assert endpoint.calls["m"] == asked
    assert endpoint.calls[JUDGE_MODEL] - judged == failed + 1  # with the probe
    assert metrics["evaluated_records"] == 6
    assert metrics["copied"]["rows"] == 6 - failed
    assert metrics["new"]["attempts"] == 0
    assert folder
    check_run(folder)
