"""The filters above a table of records, each with how many records it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from steelyard.reports.run.look_items import shortened
from steelyard.web.records.record_address import Address, RecordFilters
from steelyard.web.records.record_source import RecordSource

_MOST_TAGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter with how many records it finds."""

    text: str
    href: str
    number: int | None = None
    kind: str = ""
    """The verdict whose icon it has."""
    is_on: bool = False


def chips_of(source: RecordSource, query: RecordFilters, address: Address) -> Iterator[Chip]:
    """Filters by verdict, by the jury and by people."""
    counts, people = source.counts, source.people
    passes, fails = ("B wins", "A wins or neither") if source.is_pairwise else ("Pass", "Fail")
    kinds = ("", "") if source.is_pairwise else ("pass", "fail")
    given: list[tuple[str, str, int | None, dict[str, Any]]] = [
        ("No score", "unscored", counts.unscored, {"only": "unscored"}),
        (fails, kinds[1], counts.failed, {"passed": False}),
        (passes, kinds[0], counts.passed, {"passed": True}),
    ]
    if not source.is_pairwise:
        given.insert(0, ("needs a look", "", source.looks, {"only": "look"}))
    if counts.split:
        given.append(("jury split", "split", counts.split, {"only": "split"}))
    if people:
        given.append(("judge ≠ people", "", len(people.differing), {"only": "differs"}))
        given.append(("read by people", "", len(people.verdicts), {"only": "read"}))
    for text, kind, number, filters in given:
        is_on = all(getattr(query, name) == value for name, value in filters.items())
        is_on = is_on and not (query.check and "passed" in filters)
        cleared: dict[str, Any] = {"only": None, "passed": None, "status": None}
        if query.check and "passed" in filters:
            cleared["check"] = None
        changes = cleared if is_on else {**cleared, **filters}
        yield Chip(
            text=text, kind=kind, number=number, is_on=is_on, href=address.records(**changes)
        )


def chosen_chips(query: RecordFilters, address: Address) -> Iterator[Chip]:
    """Other filters that are set; each links to the list without it."""
    if query.check is not None:
        word = {None: "", True: " passes", False: " fails"}[query.passed]
        href = address.records(check=None, passed=None)
        yield Chip(text=f"{query.check}{word}", href=href, is_on=True)
    for name in ("tag", "slice", "label", "status"):
        value = getattr(query, name)
        if value is not None:
            text = value if name == "slice" else f"{name}: {value}"
            yield Chip(text=text, href=address.records(**{name: None}), is_on=True)
    if query.q is not None:
        yield Chip(text=f"“{shortened(query.q)}”", href=address.records(q=None), is_on=True)


def more_chips(source: RecordSource, address: Address) -> Iterator[tuple[str, tuple[Chip, ...]]]:
    """Filters to add, by what they are about."""
    counts = source.counts
    failing = {name: one.failed for name, one in counts.checks.items()}
    if any(failing.values()):
        yield (
            "Checks that fail",
            tuple(
                Chip(
                    text=name,
                    number=number,
                    href=address.records(check=name, passed=False, only=None),
                )
                for name, number in failing.items()
                if number
            ),
        )
    if counts.labels:
        yield (
            "Labels of failures",
            tuple(
                Chip(text=name, number=number, href=address.records(label=name, only=None))
                for name, number in counts.labels.items()
            ),
        )
    tags = [one for one in source.slices if one.slice == "tags" and one.value is not None]
    tags.sort(key=lambda one: (-one.total_records, str(one.value)))
    if tags:
        yield (
            "Tags",
            tuple(
                Chip(text=str(one.value), number=one.rows, href=address.records(tag=one.value))
                for one in tags[:_MOST_TAGS]
            ),
        )
