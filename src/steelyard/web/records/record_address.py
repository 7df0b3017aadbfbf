"""The filters of records in addresses, and the addresses of a run's records."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import structs

from steelyard.api.resources.records import RecordStatus
from steelyard.results.records import Only, Place, RecordQuery
from steelyard.usecases.judges.people_verdicts import PeopleOfRun
from steelyard.usecases.results.records import parse_sort
from steelyard.web.rendering import query_text, segment

BY_PEOPLE = frozenset({"look", "read", "differs"})
"""What `only` asks for by what people say."""


class RecordFilters(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"begin": "from"},
    forbid_unknown_fields=True,
):
    """Which records of a run are shown; the names are those of the API."""

    status: RecordStatus | None = None
    passed: bool | None = None
    check: str | None = None
    tag: str | None = None
    slice: str | None = None
    """A field with its value, such as `task_type=qa`."""
    label: str | None = None
    q: str | None = None
    only: Only | None = None
    sort: str | None = None
    """By verdict, where nothing is said; what is searched for, in the order of the records."""
    cursor: str | None = None
    begin: int = 1
    """The place of the first record of the page in the list."""
    cols: str | None = None
    """The columns that were chosen."""
    open: str | None = None
    """The row that stands beside the table; scripts alone read and write it."""
    slices: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1
    """The page of the table of slices."""

    @property
    def order(self) -> str:
        """How the list is sorted."""
        return self.sort or ("index" if self.q else "verdict")

    def wanted(self, people: PeopleOfRun | None, *, has_jury: bool = True) -> RecordQuery:
        """The query of the store."""
        among: tuple[Place, ...] = ()
        if people:
            among = people.read if self.only == "read" else people.differing
        field, _, value = (self.slice or "").partition("=")
        return RecordQuery(
            status=self.status,
            passed=self.passed,
            check=self.check,
            tag=self.tag,
            slice=(field, value) if self.slice else None,
            label=self.label,
            text=self.q,
            only=self.only,
            among=among if self.only in BY_PEOPLE else (),
            has_jury=has_jury,
            sort=parse_sort(self.order),
        )

    @property
    def filters(self) -> dict[str, Any]:
        """What leaves records out."""
        names = ("status", "passed", "check", "tag", "slice", "label", "q", "only")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}


class Address:
    """The addresses of a run's page and of its records."""

    def __init__(self, run_id: str, query: RecordFilters) -> None:
        self.run = f"/runs/{segment(run_id)}"
        self._query = query

    def records(self, **changes: Any) -> str:
        """The page with other filters, from the first record on."""
        return f"{self.run}{self.query(cursor=None, begin=1, **changes)}#records"

    def query(self, **changes: Any) -> str:
        """The query with changes; what is as it is by default is left out."""
        changed = structs.replace(self._query, **changes)
        plain = RecordFilters()
        names = {"begin": "from"}
        values = {
            names.get(name, name): _written(getattr(changed, name))
            for name in changed.__struct_fields__
            if name != "open" and getattr(changed, name) != getattr(plain, name)
        }
        return query_text(values)

    def only(self, **filters: Any) -> str:
        """The page with these filters alone; columns stay."""
        plain = RecordFilters(cols=self._query.cols, **filters)
        return Address("", plain).records().replace("/runs/", self.run, 1)

    def record(self, index: int, repeat: int = 0) -> str:
        """The page of a record, which knows the list that it was opened from."""
        values = {"repeat": repeat or None, "from": self._listed}
        return f"{self.run}/records/{index}{query_text(values)}"

    def panel(self, index: int, repeat: int) -> str:
        """A record beside the table."""
        values = {"repeat": repeat, "from": self._listed}
        return f"{self.run}/records/{index}/panel{query_text(values)}"

    @property
    def _listed(self) -> str:
        """The query of this page, with its order."""
        return self.query(sort=self._query.order).removeprefix("?")

    def slices(self, page: int) -> str:
        """Another page of the table of slices."""
        return f"{self.run}{self.query(slices=page)}#h-slices"

    def slice(self, field: str, value: str, check: str | None) -> str:
        """The records of a slice; with a check, those that it has graded."""
        if field == "tags":
            return self.only(tag=value, check=check)
        return self.only(slice=f"{field}={value}", check=check)


def _written(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
