"""Many people at once, in threads and in processes, on one database file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from fakes.audit import an_entry
from fakes.review_queues import AT, QUEUE, StoredQueue, a_label, assignments
from fakes.stores import open_store
from steelyard.model.labels.annotation import Wanted

pytestmark = pytest.mark.usefixtures("both_stores")

PEOPLE, ITEMS, REVIEWS = 8, 40, 3


def answer_all(path: Path, person: str) -> int:
    """ItemClaim and submit until nothing is left; how many items a person has answered."""
    engine = open_store(path)
    work, done = assignments(engine), 0
    try:
        while (claim := work.claim(QUEUE, person, AT)) is not None:
            label = a_label(person, claim.item.index)
            work.submit(claim.item.item_id, claim.token, 0, label, an_entry(AT))
            done += 1
    finally:
        engine.dispose()
    return done


def check(queue: StoredQueue, answered: list[int]) -> None:
    found = [one.row for one in queue.annotations.all(Wanted())]
    per_item = Counter(row["record_id"] for row in found)

    assert set(per_item.values()) == {REVIEWS}
    assert len(per_item) == ITEMS
    assert len(found) == sum(answered) == ITEMS * REVIEWS
    assert len({(row["record_id"], row["annotator"]) for row in found}) == len(found)


def test_threads_share_a_queue(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    queue = StoredQueue(path, items=ITEMS, reviews=REVIEWS)
    answered = [0] * PEOPLE

    def work(number: int) -> None:
        answered[number] = answer_all(path, f"person {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(queue, answered)
    queue.close()


def test_processes_share_a_queue(tmp_path: Path) -> None:
    path = tmp_path / ".steelyard" / "steelyard.db"
    queue = StoredQueue(path, items=ITEMS, reviews=REVIEWS)
    command = "import sys; sys.path[:] = {!r}; from {} import answer_all; print(answer_all({}))"
    places = [*sys.path, str(Path(__file__).parent)]
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                command.format(
                    places,
                    Path(__file__).stem,
                    f"__import__('pathlib').Path({str(path)!r}), 'person {number}'",
                ),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    answered = [int(one.communicate()[0]) for one in running]
    check(queue, answered)
    queue.close()
