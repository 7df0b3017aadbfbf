"""A client that a public generator makes from the OpenAPI document."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.served_runs import make_runs
from real_parts import lack
from servers.service import running
from steelyard.api.application import operations
from steelyard.api.openapi import document
from steelyard.project import open_project

LOCK = Path(__file__).parents[1] / "real" / "openapi_client.txt"
USE = """
import sys
from made import Client
from made.api.rubrics import create_rubric
from made.api.runs import (
    cancel_run, create_run, get_run, get_run_metrics, get_run_record, list_run_records, list_runs
)
from made.models import CreateRubricJsonBody, ErrorBody, PostedDocument

client = Client(base_url=sys.argv[1])
runs = list_runs.sync(client=client, limit=2)
run = get_run.sync(sys.argv[2], client=client)
page = list_run_records.sync(run.run_id, client=client, passed=False)
record = get_run_record.sync(run.run_id, page.data[0].index, client=client)
metrics = get_run_metrics.sync(run.run_id, client=client)
missing = get_run.sync("run_unknown", client=client)
assert isinstance(missing, ErrorBody)
check = {"id": "says_word", "kind": "must_contain_any", "phrases": ["yes"]}
body = {"id": "found", "version": "1.0.0", "checks": [check], "scoring": {"combine": "all_pass"}}
rubric = create_rubric.sync_detailed(client=client, body=CreateRubricJsonBody.from_dict(body))
document = {
    "dataset_id": "posted", "dataset_version": "1", "schema_version": "1.0", "records": [
        {"record_id": "a", "input": {"prompt": "yes?"}},
        {"record_id": "b"},
    ],
}
posted = create_run.sync(
    client=client,
    body=PostedDocument.from_dict(document),
    target="echo",
    rubric="rubric/found@1.0",
    idempotency_key="once",
)
assert not isinstance(posted, ErrorBody), posted
assert get_run.sync(posted.run_id, client=client).status == "queued"
cancelled = cancel_run.sync(posted.run_id, client=client)
assert cancelled.run_id == posted.run_id
print(rubric.status_code.value, posted.status, posted.summary.accepted_records,
      cancelled.derived_from)
print(len(runs.data), run.status, record.record_id, record.evaluator_scores[0].check,
      metrics.pass_rate.n, missing.error.code)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the generator, which does not go with the packages of this one."""
    folder = tmp_path_factory.mktemp("generator")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    made = folder / "bin" / "python"
    command = [made, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", LOCK]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    if installed.returncode:
        lack(f"the generator cannot be installed: {installed.stderr[-300:]}")
    return made


@pytest.mark.trials
def test_a_generated_client_reads_runs_and_records(tmp_path: Path, python: Path) -> None:
    runs = make_runs(tmp_path / "project")
    (tmp_path / "api.json").write_text(json.dumps(document(operations())), encoding="utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    generate = [python.with_name("openapi-python-client"), "generate", "--path", "api.json"]
    subprocess.run(
        [*generate, "--meta", "none", "--output-path", "made"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    with open_project(runs.root) as project, running(project) as url:
        done = subprocess.run(
            [python, "use.py", url, runs.done],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.stderr == ""
    assert done.stdout.split() == [
        *("201", "accepted_with_record_errors", "1", "None"),
        *("2", "completed_with_failures", "b", "says_yes", "3", "not_found"),
    ]
