"""The calls of a finished run are found by their records."""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.usecases.runs.past_attempts import PastAttempts


def attempt(index: int | None, number: int, call: str = "target", repeat: int = 0) -> str:
    row = {"index": index, "record_id": None, "target": "live", "repeat": repeat, "call": call}
    return json.dumps({**row, "attempt": number, "at": f"t{number}", "latency_ms": 1.0})


def test_the_attempts_of_a_target_are_found_by_index_and_repeat(tmp_path: Path) -> None:
    rows = [
        attempt(None, 1, "probe"),
        attempt(0, 1),
        attempt(0, 2),
        attempt(0, 1, "judge/a@1.0.0"),
        attempt(0, 1, repeat=1),
        json.dumps({"copied_from": "run_0", **json.loads(attempt(7, 1))}),
    ]
    (tmp_path / "attempt_logs.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    past = PastAttempts(tmp_path, "run_1")

    found = {place: past.of(*place) for place in ((0, 0), (0, 1), (3, 0), (7, 0))}
    numbers = {place: [one.attempt for one in made] for place, made in found.items()}
    assert numbers == {(0, 0): [1, 2], (0, 1): [1], (3, 0): [], (7, 0): [1]}
    assert [found[place][0].copied_from for place in ((0, 0), (7, 0))] == ["run_1", "run_0"]
