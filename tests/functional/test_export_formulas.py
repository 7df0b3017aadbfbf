"""No answer of a model becomes a formula in the spreadsheet that opens an export."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]
HIDING = (
    "\u200b\ufeff\u00a0\u00ad\u200e\u202e\u2066\u061c\x01\x7f\x85"
    "\u034f\ufe0f\u3000\u3164\u180e\U000e0020"
)
SIGNS = "=+-@＝＋－＠﹢﹣﹦﹫"
FORMULAS = [
    *("=1+1", "\n=1+1", " =1+1", "＝1+1", "\n ＝1+1", "\t1+1", "\r1+1"),
    *(f"{hiding}=1+1" for hiding in HIDING),
    *(f"\u200b{sign}1+1" for sign in SIGNS),
    f"{HIDING}=1+1",
]
PLAIN = ["1 = 1", "\u200bnine", "a=1", "\u00a0", ""]


def test_a_formula_behind_what_nobody_sees_or_of_wide_signs_is_neutralised(
    tmp_path: Path, steelyard: Command
) -> None:
    (tmp_path / "agent.py").write_text(
        f"SAID = {[*FORMULAS, *PLAIN]!r}\n\n\ndef answer(prompt):\n    return SAID[int(prompt)]\n",
        encoding="utf-8",
    )
    (tmp_path / "steelyard.yaml").write_text(
        'targets:\n  agent: {provider: python, callable: "agent:answer"}\n', encoding="utf-8"
    )
    wanted = [{"type": "equals", "value": "x"}]
    rows = [
        {"id": f"r{n}", "expected_outcome": "x", "input": str(n), "evaluators": wanted}
        for n in range(len(FORMULAS) + len(PLAIN))
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "cases.jsonl").write_text(text, encoding="utf-8")
    steelyard("run", "cases.jsonl", "--target", "agent", cwd=tmp_path)
    done = steelyard("export", "latest", "--to", "csv", cwd=tmp_path)
    table = csv.DictReader(io.StringIO(done.stdout, newline=""))

    neutral = [f"'{formula}" for formula in FORMULAS]
    assert [row["model_response"] for row in table] == [*neutral, *PLAIN]
