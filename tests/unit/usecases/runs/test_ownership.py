"""Where a run stands: at work, stopped, resumable, or being cancelled."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.plans import plan
from steelyard.model.upload import upload_name
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.runs.ownership import Standing, standing_of

POSTED = {"dataset": upload_name("upl_" + "0" * 26)}
RETRY = {"run_id": "run_0", "how": "retry", "folder": "/runs/run_0"}


def standing(
    *,
    is_alive: bool = False,
    has_upload: bool = True,
    is_lost: bool = False,
    options: Any = None,
    **known: Any,
) -> Standing:
    """Where a run stands that was started, unless a test says otherwise."""
    start: dict[str, Any] = {"status": "running", "owner": "host:1:", "fence": 1}
    run = StoredRun(
        run_id="run_1",
        created_at="2026-01-01T00:00:00Z",
        dataset="d",
        plan=plan(options=options or {}),
        **{**start, **known},
    )
    return standing_of(
        run, lambda _owner: is_alive, lambda _upload: has_upload, lambda _run: is_lost
    )


@pytest.mark.parametrize(
    ("known", "text", "is_resumable"),
    [
        ({"is_alive": True}, "running", False),
        ({}, "stopped, can be resumed", True),
        ({"owner": None}, "stopped, can be resumed", True),
        ({"status": "queued", "owner": None, "fence": 0}, "queued", False),
        ({"status": "completed", "owner": None}, "completed", False),
        ({"options": POSTED}, "stopped, can be resumed", True),
    ],
)
def test_a_started_run_without_a_process_can_be_resumed(
    known: dict[str, Any], text: str, is_resumable: bool
) -> None:
    found = standing(**known)

    assert (found.text, found.is_resumable) == (text, is_resumable)
    assert (found.is_cancelling, found.why_not_resumable) == (False, None)


@pytest.mark.parametrize(
    "known",
    [
        {"is_alive": True},
        {"status": "queued", "owner": None, "fence": 0, "is_queued": True},
        {"owner": None, "is_queued": True},
    ],
)
def test_a_run_is_being_cancelled_until_it_has_ended(known: dict[str, Any]) -> None:
    found = standing(is_cancelling=True, **known)

    assert found == Standing(text="being cancelled", is_cancelling=True)


@pytest.mark.parametrize(
    ("known", "is_waiting"),
    [
        ({"status": "queued", "owner": None, "fence": 0, "is_queued": True}, True),
        ({"is_queued": True}, True),
        ({"is_queued": True, "is_alive": True}, False),
        ({"is_queued": True, "is_cancelling": True}, False),
        ({"is_queued": True, "has_upload": False, "options": POSTED}, False),
        ({}, False),
    ],
    ids=["new", "resumed", "at work", "cancelled", "without its upload", "interrupted"],
)
def test_a_run_waits_that_the_next_free_worker_takes(
    known: dict[str, Any], is_waiting: bool
) -> None:
    assert standing(**known).is_waiting is is_waiting


def test_a_cancelled_run_that_nobody_seals_must_be_cancelled_again() -> None:
    found = standing(is_cancelling=True)

    assert (found.text, found.is_resumable) == ("stopped, cannot be resumed", False)
    assert "cancel it again" in str(found.why_not_resumable)


def test_a_run_whose_posted_dataset_is_gone_cannot_be_resumed() -> None:
    found = standing(has_upload=False, options=POSTED)

    assert (found.text, found.is_resumable) == ("stopped, cannot be resumed", False)
    assert "post the dataset again" in str(found.why_not_resumable)


@pytest.mark.parametrize(
    "known", [{}, {"status": "queued", "owner": None, "fence": 0}, {"options": POSTED}]
)
def test_a_run_whose_inputs_were_not_restored_cannot_be_resumed(known: dict[str, Any]) -> None:
    found = standing(is_lost=True, **known)

    assert (found.text, found.is_resumable) == ("stopped, cannot be resumed", False)
    assert "its inputs were not restored" in str(found.why_not_resumable)


def test_a_retry_reads_the_folder_of_the_run_before_it() -> None:
    found = standing(has_upload=False, options={**POSTED, "derived_from": RETRY})

    assert found.is_resumable
