"""The last lines of a test session: what was skipped and what was not run, and how to get it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

import pytest

KINDS = {
    "tests": "tests (python3 dev.py test)",
    "trials": "trials (python3 dev.py trials)",
    "soak": "soak tests (python3 dev.py soak)",
}
LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Start to count."""
    config.stash[LEFT_OUT] = Counter()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count by the command that would run them."""
    for item in items:
        marked = (kind for kind in ("soak", "trials") if item.get_closest_marker(kind))
        item.config.stash[LEFT_OUT][next(marked, "tests")] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist counted; each collects all tests."""
    counted: Mapping[str, int] = getattr(node, "workeroutput", {}).get("left_out", {})
    node.config.stash[LEFT_OUT] |= Counter(counted)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Print after everything else; a worker sends its counts."""
    config = session.config
    if hasattr(config, "workeroutput"):
        cast(Any, config).workeroutput["left_out"] = dict(config.stash[LEFT_OUT])
    yield
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workeroutput"):
        return
    reasons = Counter(reason(report) for report in reporter.stats.get("skipped", ()))
    for line in last_lines(reasons, config.stash[LEFT_OUT]):
        reporter.write_line(line)


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped."""
    where = report.longrepr
    return str(where[2] if isinstance(where, tuple) else where).removeprefix("Skipped: ")


def last_lines(reasons: Counter[str], left_out: Counter[str]) -> list[str]:
    """What a reader should know who sees nothing but the end."""
    lines = [f"skipped: {reasons.total() or 'none'}"]
    lines += [f"  {count}: {why}" for why, count in reasons.most_common()]
    parts = [f"{left_out[kind]} {name}" for kind, name in KINDS.items() if left_out[kind]]
    return [*lines, *([f"not run here: {', '.join(parts)}"] if parts else [])]
