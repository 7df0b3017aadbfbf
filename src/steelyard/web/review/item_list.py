"""The items of a queue beside the trace: states, filters, and what comes before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.model.labels.queue import Draft, ItemState, ListedItem
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """An item in the list."""

    item_id: str
    name: str
    place: int
    state: ItemState
    text: str
    href: str
    is_flagged: bool
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
    drafts: Mapping[str, Draft],
    address: ItemAddress,
    current: str | None,
) -> ItemList:
    """The items that fit the filters, around the current one."""
    wanted = address.q.casefold()
    fitting = [
        one
        for one in items
        if (not address.state or one.state == address.state)
        and wanted in name_of(one.record_id, one.repeat).casefold()
    ]
    places = [at for at, one in enumerate(fitting) if one.item_id == current]
    at = places[0] if places else 0
    first = max(0, min(at - MOST_SHOWN // 2, len(fitting) - MOST_SHOWN))
    before = [one for one in fitting[:at] if one.state != "taken"]
    after = [one for one in fitting[at + len(places) :] if one.state != "taken"]
    return ItemList(
        rows=tuple(
            _row(one, drafts.get(one.item_id), address, one.item_id == current)
            for one in fitting[first : first + MOST_SHOWN]
        ),
        found=len(fitting),
        total=len(items),
        state=address.state,
        q=address.q,
        previous=address.item(before[-1].item_id) if before else None,
        next=address.item(after[0].item_id) if after else None,
    )


def _row(item: ListedItem, draft: Draft | None, address: ItemAddress, is_current: bool) -> ItemRow:
    text = STATES[item.state]
    if item.state == "skipped" and draft and draft.reason:
        text = f"skipped: {draft.reason}"
    if item.flags:
        text += ", flagged"
    return ItemRow(
        item_id=item.item_id,
        name=name_of(item.record_id, item.repeat),
        place=item.place,
        state=item.state,
        text=text,
        href=address.item(item.item_id),
        is_flagged=bool(item.flags),
        is_current=is_current,
    )
