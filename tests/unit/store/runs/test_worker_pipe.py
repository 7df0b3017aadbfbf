"""What passes between the process that holds a run and one that works on a part of it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from io import BytesIO
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.store.runs.row_writer import Rows
from steelyard.store.runs.worker_pipe import (
    CANCELLED,
    KEPT,
    HolderPipe,
    WorkerJob,
    framed,
    read_frame,
    read_rows,
    written_job,
    written_rows,
)

JOB = WorkerJob("run_1", (0, 2), ("live",))


class Holder:
    """The other end of a worker's pipes."""

    def __init__(self) -> None:
        heard, self._say = os.pipe()
        self._hear, said = os.pipe()
        self.stream: IO[bytes] = os.fdopen(self._hear, "rb")
        self._heard, self._said = os.fdopen(heard, "rb"), said
        self.pipe = HolderPipe(self._heard, said)

    def say(self, words: bytes) -> None:
        os.write(self._say, words)

    def hang_up(self) -> None:
        if self._say >= 0:
            os.close(self._say)
        self._say = -1

    def close(self) -> None:
        if self.stream.closed and self._heard.closed:
            return
        self.hang_up()
        for thread in threading.enumerate():
            if thread.name == "steelyard-holder":
                thread.join()
        self.stream.close()
        self._heard.close()
        os.close(self._said)


@pytest.fixture
def stops() -> Iterator[list[int]]:
    """The signals that a worker has sent itself."""
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    yield seen
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def holder(stops: list[int]) -> Iterator[Holder]:
    """A holder, whose worker would be stopped when it hangs up."""
    assert stops == []
    made = Holder()
    yield made
    made.close()


def rows(index: int = 0) -> Rows:
    result = ("run_1", index, 0, "evaluated", b"{}", b"{}", None, b'{"passed":true}')
    return Rows(results=[result], redactions={"secrets": 2}, states=[("retrying", "now")])


def write_in_vain(holder: Holder) -> None:
    """Ends the thread that writes, and says nothing."""
    with pytest.raises(SystemExit):
        holder.pipe.write(rows())


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=5))
def test_frames_come_out_as_they_went_in(contents: list[bytes]) -> None:
    stream = BytesIO(b"".join(map(framed, contents)))

    assert [read_frame(stream) for _ in contents] == contents
    assert read_frame(stream) == b""


@pytest.mark.parametrize("size", range(8))
def test_a_frame_that_was_torn_off_is_nothing(size: int) -> None:
    assert read_frame(BytesIO(framed(b"rows")[:size])) == b""


def test_rows_come_out_as_they_went_in() -> None:
    assert read_rows(written_rows(rows())) == rows()


def test_a_worker_gets_its_job(holder: Holder) -> None:
    holder.say(framed(written_job(JOB)))

    assert holder.pipe.job() == JOB
    assert holder.pipe.run_id == "run_1"


def test_a_worker_for_which_there_is_no_work_gets_none(holder: Holder) -> None:
    holder.hang_up()

    assert holder.pipe.job() is None


def test_a_write_returns_when_the_holder_has_kept_it(holder: Holder) -> None:
    holder.say(framed(written_job(JOB)))
    holder.pipe.job()
    is_kept = threading.Event()

    def write() -> None:
        holder.pipe.write(rows())
        is_kept.set()

    thread = threading.Thread(target=write)
    thread.start()
    sent = read_rows(read_frame(holder.stream))

    assert sent == rows()
    assert not is_kept.wait(0.05)
    holder.say(KEPT)
    assert is_kept.wait(120)
    thread.join()


def test_more_than_a_pipe_holds_is_written_in_pieces(holder: Holder) -> None:
    holder.say(framed(written_job(JOB)))
    holder.pipe.job()
    large = Rows(results=[("x" * 1_000_000,)])
    thread = threading.Thread(target=holder.pipe.write, args=(large,))
    thread.start()

    assert read_rows(read_frame(holder.stream)) == large
    holder.say(KEPT)
    thread.join(120)
    assert not thread.is_alive()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_cancel_is_told_whenever_somebody_listens(holder: Holder, is_late: bool) -> None:
    holder.say(framed(written_job(JOB)))
    holder.pipe.job()
    is_told = threading.Event()
    if is_late:
        holder.say(CANCELLED + KEPT)
        holder.pipe.write(Rows())  # what came before the confirmation has been heard
        holder.pipe.on_cancel(is_told.set)
    else:
        holder.pipe.on_cancel(is_told.set)
        holder.say(CANCELLED)

    assert is_told.wait(120)


def test_a_worker_without_its_holder_stops_and_keeps_nobody_waiting(
    holder: Holder, stops: list[int]
) -> None:
    holder.say(framed(written_job(JOB)))
    holder.pipe.job()
    thread = threading.Thread(target=write_in_vain, args=(holder,))
    thread.start()
    holder.close()
    thread.join(120)

    assert not thread.is_alive()
    assert stops == [signal.SIGTERM]


def test_a_write_to_a_holder_that_is_gone_ends_as_well(holder: Holder) -> None:
    holder.say(framed(written_job(JOB)))
    holder.pipe.job()
    holder.stream.close()
    holder.hang_up()
    thread = threading.Thread(target=write_in_vain, args=(holder,))
    thread.start()
    thread.join(120)

    assert not thread.is_alive()
