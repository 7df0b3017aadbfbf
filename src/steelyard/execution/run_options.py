"""The options of a run."""

from __future__ import annotations

from msgspec import structs

from steelyard.results.options import StoredOptions


class RunOptions(StoredOptions, frozen=True, kw_only=True):
    """One dataset, what answers, what grades, and which records."""

    group_id: str | None = None

    @property
    def selection(self) -> str | None:
        """What selects records; None where those of the run that it is made from are given.

        Once a value of it was redacted, nobody can select by it again.
        """
        is_redacted = self.where is not None and "[redacted" in self.where
        return None if self.derived and is_redacted else self.where

    def stored(self) -> StoredOptions:
        """The options as they are kept with the run; its group is kept beside them."""
        values = structs.asdict(self)
        del values["group_id"]
        return StoredOptions(**values)


def stored_options(kept: StoredOptions, group_id: str | None) -> RunOptions:
    """The options of a run that was kept."""
    return RunOptions(**structs.asdict(kept), group_id=group_id)
