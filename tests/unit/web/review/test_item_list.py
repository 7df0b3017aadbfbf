"""The list of items beside the trace."""

from __future__ import annotations

from steelyard.model.labels.queue import Draft, Flag, ItemState, ListedItem
from steelyard.web.review.item_list import MOST_SHOWN, ItemAddress, OwnWork, item_list


def item(place: int, state: ItemState = "waiting", flags: int = 0) -> ListedItem:
    return ListedItem(
        item_id=f"item_{place}",
        place=place,
        record_id=f"desk-{place}",
        repeat=0,
        state=state,
        flags=flags,
    )


def nothing_done(_item: ListedItem) -> OwnWork:
    return OwnWork()


def test_arrows_pass_over_items_that_others_answer() -> None:
    items = [item(1, "submitted"), item(2, "taken"), item(3), item(4, "taken"), item(5, "open")]
    address = ItemAddress(queue_id="queue_1", view="raw")

    found = item_list(items, nothing_done, address, "item_3")

    assert found.previous == "/review/queue_1?item=item_1&view=raw"
    assert found.next == "/review/queue_1?item=item_5&view=raw"
    assert [row.is_current for row in found.rows] == [False, False, True, False, False]


def test_filters_keep_what_fits_and_say_why_an_item_was_skipped() -> None:
    items = [item(1, "skipped", flags=1), item(2, "skipped"), item(30)]
    draft = Draft(
        item_id="item_1",
        annotator="mara",
        standing="skipped",
        revision=0,
        answers={},
        changed_at="",
        reason="too hard",
    )

    flag = Flag(item_id="item_1", annotator="mara", kind="note", text="?", at="")
    found = item_list(
        items,
        lambda _: OwnWork(draft=draft, flags=[flag]),
        ItemAddress(queue_id="q", state="skipped", q="DESK-1"),
        None,
    )

    assert [(row.text, row.flags) for row in found.rows] == [
        ("skipped: too hard", "flagged: note")
    ]
    assert (found.found, found.total) == (1, 3)


def test_a_long_list_shows_the_items_around_the_current_one() -> None:
    items = [item(place) for place in range(1, 1001)]

    found = item_list(items, nothing_done, ItemAddress(queue_id="q"), "item_500")

    assert len(found.rows) == MOST_SHOWN
    assert found.rows[0].place < 500 < found.rows[-1].place
    assert found.found == 1000
