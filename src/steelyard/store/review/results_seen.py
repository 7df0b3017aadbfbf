"""Who has opened the results of which records."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Engine, select

from steelyard.store.database import few_rows, translated_errors
from steelyard.store.dialects import insert_new
from steelyard.store.review_tables import results_seen
from steelyard.store.tables import NO_RECORD


class SeenResults:
    """Keeps the first time at which a person opened results; nothing else."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(
        self, person: str, sources: Sequence[str], indices: Collection[int] | None, at: str
    ) -> None:
        """Note that a person opened the results of some records, or of all of them."""
        rows = [
            {"person": person, "source_id": source, "idx": index, "at": at}
            for source in sources
            for index in ((NO_RECORD,) if indices is None else indices)
        ]
        if rows:
            with translated_errors(self._engine), self._engine.begin() as connection:
                connection.execute(insert_new(results_seen), rows)

    def people(self) -> list[str]:
        """Everybody who opened results."""
        query = select(results_seen.c.person).distinct()
        return [row.person for row in few_rows(self._engine, query)]

    def sources(self, people: Collection[str]) -> list[str]:
        """The runs of which these people opened results."""
        query = select(results_seen.c.source_id).where(results_seen.c.person.in_(people))
        return [row.source_id for row in few_rows(self._engine, query.distinct())]

    def has_seen(self, people: Collection[str], sources: Collection[str], index: int) -> bool:
        """Whether any of these people opened the results of a record."""
        query = select(results_seen.c.at).where(
            results_seen.c.person.in_(people),
            results_seen.c.source_id.in_(sources),
            results_seen.c.idx.in_((index, NO_RECORD)),
        )
        return bool(few_rows(self._engine, query.limit(1)))
