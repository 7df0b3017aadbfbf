"""The items of a queue beside the trace: states, filters, and what comes before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.model.labels.queue import Draft, Flag, FlagKind, ItemState, ListedItem
from steelyard.web.rendering import query_text, segment

MOST_SHOWN = 200
"""Items that the list shows around the current one; search finds the others."""
STATES: Mapping[ItemState, str] = {
    "waiting": "to do",
    "open": "draft",
    "deferred": "deferred to the end",
    "skipped": "skipped",
    "submitted": "submitted",
    "taken": "answered by others",
}
FLAGGED = "flagged"
FILTERS: Mapping[str, str] = {
    "": "All states",
    "waiting": "To do",
    "open": "Draft",
    "deferred": "Deferred",
    "skipped": "Skipped",
    "submitted": "Submitted",
    "taken": "Answered by others",
    FLAGGED: "Flagged by you",
}
"""What the list can be narrowed to; flags are set beside any state."""
FLAG_WORDS: Mapping[FlagKind, str] = {
    "guideline_gap": "guideline gap",
    "bad_item": "bad item",
    "note": "note",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWork:
    """What one person has done with an item so far."""

    draft: Draft | None = None
    flags: Sequence[Flag] = ()
    answered: int = 0
    asked: int = 0
    """The questions of the item, of every turn; comments are in neither number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """An item in the list."""

    item_id: str
    name: str
    place: int
    state: ItemState
    text: str
    href: str
    flags: str
    """What this person has flagged it as; empty without a flag."""
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemList:
    """What the list shows, and where the arrows lead."""

    rows: tuple[ItemRow, ...]
    found: int
    """Items that fit the filters."""
    total: int
    state: str
    q: str
    previous: str | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAddress:
    """The addresses of a queue's items, which keep the filters of the list."""

    queue_id: str
    state: str = ""
    q: str = ""
    view: str = ""

    @property
    def page(self) -> str:
        """The annotation page, without an item."""
        return f"/review/{segment(self.queue_id)}"

    def item(self, item_id: str | None = None, **more: str | None) -> str:
        """The page with an item, or with the next one."""
        kept = {"state": self.state or None, "q": self.q or None, "view": self.view or None}
        return f"{self.page}{query_text({'item': item_id, **kept, **more})}"


def name_of(record_id: str, repeat: int) -> str:
    """What people call an item."""
    return f"{record_id}, repeat {repeat}" if repeat else record_id


def item_list(
    items: Sequence[ListedItem],
    work: Callable[[ListedItem], OwnWork],
    address: ItemAddress,
    current: str | None,
) -> ItemList:
    """The items that fit the filters, around the current one; `work` is asked for those shown."""
    fitting = [one for one in items if _fits(one, address)]
    places = [at for at, one in enumerate(fitting) if one.item_id == current]
    at = places[0] if places else 0
    first = max(0, min(at - MOST_SHOWN // 2, len(fitting) - MOST_SHOWN))
    before = [one for one in fitting[:at] if one.state != "taken"]
    after = [one for one in fitting[at + len(places) :] if one.state != "taken"]
    return ItemList(
        rows=tuple(
            _row(one, work(one), address, one.item_id == current)
            for one in fitting[first : first + MOST_SHOWN]
        ),
        found=len(fitting),
        total=len(items),
        state=address.state,
        q=address.q,
        previous=address.item(before[-1].item_id) if before else None,
        next=address.item(after[0].item_id) if after else None,
    )


def _fits(item: ListedItem, address: ItemAddress) -> bool:
    if address.q.casefold() not in name_of(item.record_id, item.repeat).casefold():
        return False
    return item.flags > 0 if address.state == FLAGGED else address.state in {"", item.state}


def _row(item: ListedItem, work: OwnWork, address: ItemAddress, is_current: bool) -> ItemRow:
    flags = ", ".join(dict.fromkeys(FLAG_WORDS[one.kind] for one in work.flags))
    return ItemRow(
        item_id=item.item_id,
        name=name_of(item.record_id, item.repeat),
        place=item.place,
        state=item.state,
        text=_state_text(item.state, work),
        flags=f"flagged: {flags}" if flags else "",
        href=address.item(item.item_id),
        is_current=is_current,
    )


def _state_text(state: ItemState, work: OwnWork) -> str:
    if state == "skipped" and work.draft and work.draft.reason:
        return f"skipped: {work.draft.reason}"
    if state == "open" and work.asked:
        return f"{STATES[state]}, {work.answered} of {work.asked} answered"
    return STATES[state]
