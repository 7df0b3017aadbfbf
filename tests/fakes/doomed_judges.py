"""Processes that have answers judged and kill themselves at a named point.

Started as `python doomed_judges.py ROOT`; for each point there is a project in ROOT, with its
number.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fakes.definitions import one_rubric
from fakes.doomed import AT_ONCE, CountingTarget, die, one_by_one
from fakes.judges import AsksJudge, judged_rubric
from fakes.projects import SETTINGS, Project
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.store.runs import row_writer
from steelyard.usecases.runs.ports import RunPorts

JUDGED = f"{SETTINGS}judges: {{default: {{target: judge}}}}\n"
RUBRIC = judged_rubric(AsksJudge(items=("a", "b"), is_in_turn=True))
JUDGE_CALLS = "judge_calls"
JUDGED_POINTS = (
    "before an answer is kept",
    "after an answer is kept",
    "before a judge is asked",
    "after a judge has replied",
    "before a reply is kept",
    "after a reply is kept",
    "before a result is kept",
    "in the commit of a result",
    "after a result is kept",
)


class CountingJudge(CountingTarget):
    """Notes every call in a file; dies before or after the ninth."""

    def __init__(self, root: Path, point: str = "") -> None:
        super().__init__(root, name="judge", noted=JUDGE_CALLS)
        self._point = point

    async def ask(self, request: Request) -> Trace:
        """Yes."""
        is_last = len(self.calls) == 8
        if is_last and self._point == "before a judge is asked":
            die()
        answer = await super().ask(request)
        if is_last and self._point == "after a judge has replied":
            die()
        return answer


def prepare(point: str) -> None:
    """Put the end where it belongs."""
    what = {"an answer": "answered", "a reply": "judgements", "a result": "results"}
    kept = next((table for name, table in what.items() if name in point), None)
    if kept is None:
        return
    name = "_insert" if "commit" in point else "write"
    whole = getattr(row_writer.RowWriter, name)
    left = 3

    def doomed(self: row_writer.RowWriter, *words: Any) -> None:
        nonlocal left
        left -= bool(getattr(words[-1], kept))
        if left == 0 and point.startswith("before"):
            die()
        whole(self, *words)
        if left == 0:
            die()

    setattr(row_writer.RowWriter, name, doomed)


def judged_ports(project: Project, root: Path, point: str = "") -> RunPorts:
    """What a process needs to run and to judge."""

    judge = CountingJudge(root, point)
    return project.ports(CountingTarget(root), judge, references=one_rubric(RUBRIC))


def run_until(root: Path, point: str) -> None:
    """Run the dataset of a project until the point is reached."""
    prepare(point)
    project = Project(root, JUDGED)
    ports = judged_ports(project, root, point)
    project.run(ports, Path("d.jsonl"), max_concurrency=AT_ONCE, rubric="judged")


if __name__ == "__main__":
    one_by_one(Path(sys.argv[1]), JUDGED_POINTS, run_until)
