"""The demo's project some months on: more labels, earlier validations, a rubric in the making."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from steelyard.model.statistics.validation import Counts
from steelyard.project import open_project

JUDGE = "judge/helpful@1.0.0"
DRAFT = "helpdesk@1.1.0"
_EARLIER = (
    ("2026-03-02T09:00:00+00:00", Counts(tp=20, fn=2, tn=9, fp=3)),
    ("2026-06-08T09:00:00+00:00", Counts(tp=22, fn=1, tn=6, fp=5)),
)


def tell_more(root: Path, conversations: str) -> None:
    """Import what people say of a run of conversations, and add the rest."""
    command = ["review", "import", "labels/conversations.jsonl", "--run", conversations]
    subprocess.run(
        [sys.executable, "-P", "-m", "steelyard", *command],
        cwd=root,
        check=True,
        capture_output=True,
    )
    rubric = (root / "rubrics" / "helpdesk.yaml").read_text(encoding="utf-8")
    stricter = rubric.replace("version: 1.0.0", "version: 1.1.0")
    stricter = stricter.replace("    weight: 0\n", "    required: true\n")
    assert stricter.count("1.1.0") == stricter.count("required: true") == 1
    (root / "rubrics" / "helpdesk-next.yaml").write_text(stricter, encoding="utf-8")
    with open_project(root) as project:
        now = next(one for one in project.validations.all() if one.judge == JUDGE)
        for at, counts in _EARLIER:
            earlier = replace(now, validated_at=at, counts=counts, items=(), label_set_sha256=at)
            assert project.validations.add(earlier)
