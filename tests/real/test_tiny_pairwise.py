"""Pairwise judging with a real model behind a real server, which holds it to the schema."""

from __future__ import annotations

import json
from pathlib import Path

from checker import Trial, check_run
from fakes.many_commands import run_many
from fakes.pairwise_project import JSON, run, write_pairwise

JUDGE = """\
  judge: {{provider: openai, base_url: "{0}/v1", model: tiny-desk, temperature: 0, seed: 1}}
judges: {{default: {{target: judge}}}}
"""


def test_a_real_model_compares_answers_in_both_orders(endpoint: str, tmp_path: Path) -> None:
    root = write_pairwise(tmp_path / "p", 3, [])
    settings = (root / "steelyard.yaml").read_text("utf-8").partition("  judge:")[0]
    (root / "steelyard.yaml").write_text(settings + JUDGE.format(endpoint), "utf-8")
    runs = [json.loads(one.stdout)["run_id"] for one in run_many(root, [run("one"), run("two")])]
    words = ("compare", *runs, "--pairwise", "judge/pairwise@1.0.0", *JSON)
    (done,) = run_many(root, [words])
    (found,) = json.loads(done.stdout)["pairwise"]["comparisons"]
    parts = (found[name] for name in ("wins", "losses", "ties", "contradictions", "unscored"))

    assert done.code in {0, 4}, done.stderr
    assert sum(parts) == found["records"] == 3
    assert found["judges"][0]["model"] == "tiny-desk"
    check_run(Path(found["artifacts"]), Trial())
