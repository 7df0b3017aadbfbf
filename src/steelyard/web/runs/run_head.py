"""The head of a run's page: what it is, its state, its files, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.api.shown_results import ShownResults, shown_rate
from steelyard.engine.states import is_terminal
from steelyard.model.upload import upload_of
from steelyard.project import Project
from steelyard.reports.numbers import counted
from steelyard.reports.verdict_words import VerdictWord, run_word
from steelyard.results.metrics import kept_metrics
from steelyard.results.runs import RunDetail, RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.usecases.results.runs import list_runs
from steelyard.usecases.results.verify import Verification
from steelyard.web.rendering import segment, when_text

_CANDIDATES = 10
_LOOKED_AT = 60
_HOW = {
    "regrade": "re-graded from",
    "retry": "failed records tried again from",
    "pairwise": "answers of",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRun:
    """A run to compare with."""

    run_id: str
    text: str
    when: str
    rate: str
    told: ShownResults
    """What the rate says of single records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHead:
    """What stands above everything else."""

    run_id: str
    title: str
    dataset: str
    target: str
    word: VerdictWord
    when: str
    group_id: str | None
    derived_from: str | None
    derived_how: str
    files: str
    """How many files are intact; empty before there are any."""
    are_files_intact: bool
    others: tuple[OtherRun, ...]
    """Finished runs of the same dataset."""
    rubrics: tuple[str, ...]
    """What the answers could be graded with."""
    can_cancel: bool
    can_resume: bool
    can_retry: bool
    can_regrade: bool
    is_sealed: bool
    """Whether there are files to export."""


def head_of(
    project: Project, detail: RunDetail, verification: Verification | None, *, may_write: bool
) -> RunHead:
    """The head of a run."""
    run = detail.run
    plan, is_over = run.plan, is_terminal(run.status)
    setup = plan.setup if plan else None
    derived = plan.options.derived if plan else None
    dataset = setup.dataset_id if setup else run.dataset
    targets = " + ".join(setup.targets) if setup else run.target or ""
    standing = project.standing(run)
    is_usable = is_over and verification is not None and verification.is_intact
    is_asked = derived is None or derived.how == "retry"
    missing = _missing(run)
    return RunHead(
        run_id=run.run_id,
        title=f"{dataset} × {targets}" if targets else dataset,
        dataset=dataset,
        target=targets,
        word=_word(run, standing.text, missing),
        when=when_text(run.created_at),
        group_id=run.group_id,
        derived_from=derived.run_id if derived else None,
        derived_how=_HOW.get(derived.how, "from") if derived else "",
        files=_files(verification) if verification else "",
        are_files_intact=verification is not None and verification.is_intact,
        others=tuple(_others(project, run)) if is_usable else (),
        rubrics=_rubrics(project) if is_usable and may_write else (),
        can_cancel=not is_over and plan is not None and not run.is_cancelling,
        can_resume=standing.is_resumable,
        can_retry=is_usable and is_asked and _has_failed(run),
        can_regrade=is_usable and (derived is None or derived.how != "pairwise"),
        is_sealed=verification is not None,
    )


def _has_failed(run: StoredRun) -> bool:
    """Whether there is a record to try again; invalid ones of a posted dataset stay invalid."""
    if not run.summary:
        return False
    metrics = kept_metrics(run.summary)
    is_posted = run.plan is not None and upload_of(run.plan.options.dataset) is not None
    given_up = metrics.invalid_records if is_posted else 0
    return metrics.failed_records + metrics.cancelled_records > given_up or (
        metrics.unscored_repeats > 0
    )


def _missing(run: StoredRun) -> int:
    if not run.summary:
        return 0
    metrics = kept_metrics(run.summary)
    return metrics.total_records - metrics.evaluated_records


def _word(run: StoredRun, standing: str, missing: int) -> VerdictWord:
    word = run_word(standing)
    if missing and run.status in {"completed", "completed_with_failures", "cancelled"}:
        state = "Cancelled" if run.status == "cancelled" else "Completed"
        return VerdictWord(word.kind, f"{state}, {counted(missing, 'record')} without a score")
    return word


def _files(found: Verification) -> str:
    states = [file.state for file in found.files]
    text = f"{states.count('intact')} of {len(states)} files intact"
    pruned = states.count("pruned")
    return f"{text}, {pruned} pruned" if pruned else text


def _others(project: Project, run: StoredRun) -> Sequence[OtherRun]:
    """The newest finished runs of the same dataset."""
    page = list_runs(project.store, RunQuery(text=run.dataset), limit=_LOOKED_AT)
    same = [
        one
        for one in page.runs
        if one.dataset == run.dataset and one.run_id != run.run_id and one.summary and one.plan
    ]
    return [_other(one) for one in same[:_CANDIDATES]]


def _other(run: StoredRun) -> OtherRun:
    rate = kept_metrics(run.summary or {}).pass_rate
    text = "no score" if rate.value is None else f"{100 * rate.value:.1f} %, n = {rate.n:,}"
    return OtherRun(
        run_id=run.run_id,
        text=run.target or run.dataset,
        when=when_text(run.created_at),
        rate=text,
        told=shown_rate(run.run_id, rate),
    )


def _rubrics(project: Project) -> tuple[str, ...]:
    """The references of rubrics that can grade."""
    listed = list_definitions(project.registry_ports(), "rubric")
    sound = [one for one in listed if one.status not in {"broken", "archived"}]
    return tuple(
        f"rubric/{one.id}@{one.version}" if one.version else f"rubric/{one.id}" for one in sound
    )


def run_href(run_id: str) -> str:
    """The page of a run."""
    return f"/runs/{segment(run_id)}"
