"""Files of queued runs: shared, and gone when nobody needs them."""

from __future__ import annotations

import os
from pathlib import Path

from fakes.runs import stored_run
from steelyard.store.database import open_database
from steelyard.store.pruned import RetentionStore
from steelyard.store.run_inputs import InputFolder
from steelyard.store.runs.repository import RunStore


def test_prune_removes_what_a_crash_has_left(tmp_path: Path) -> None:
    data = tmp_path / ".steelyard"
    engine = open_database(data / "steelyard.db")
    RunStore(engine).create(stored_run("waits"))
    inputs = InputFolder(data)
    source = tmp_path / "d.jsonl"
    source.write_text("{}\n", encoding="utf-8")
    for run_id in ("run_waits", "run_gone", "run_being_made"):
        inputs.keep(run_id, {source: source}, b"{}")
    for run_id in ("run_waits", "run_gone"):
        os.utime(data / "inputs" / run_id, (0, 0))
    RetentionStore(engine, data).remove_inputs()
    engine.dispose()

    assert inputs.folder("run_gone") is None
    assert inputs.folder("run_waits")
    assert inputs.folder("run_being_made")
