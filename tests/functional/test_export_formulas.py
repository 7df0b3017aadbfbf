"""No answer of a model becomes a formula in the spreadsheet that opens an export."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]
FORMULAS = ["=1+1", "\n=1+1", " =1+1", "＝1+1", "\n ＝1+1"]


def test_a_formula_behind_spaces_breaks_or_wide_signs_is_neutralised(
    tmp_path: Path, steelyard: Command
) -> None:
    (tmp_path / "agent.py").write_text(
        f"SAID = {FORMULAS!r}\n\n\ndef answer(prompt):\n    return SAID[int(prompt)]\n",
        encoding="utf-8",
    )
    (tmp_path / "steelyard.yaml").write_text(
        'targets:\n  agent: {provider: python, callable: "agent:answer"}\n', encoding="utf-8"
    )
    wanted = [{"type": "equals", "value": "x"}]
    rows = [
        {"id": f"r{n}", "expected_outcome": "x", "input": str(n), "evaluators": wanted}
        for n in range(len(FORMULAS))
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "cases.jsonl").write_text(text, encoding="utf-8")
    steelyard("run", "cases.jsonl", "--target", "agent", cwd=tmp_path)
    done = steelyard("export", "latest", "--to", "csv", cwd=tmp_path)
    table = csv.DictReader(io.StringIO(done.stdout, newline=""))

    assert [row["model_response"] for row in table] == [f"'{formula}" for formula in FORMULAS]
