"""The options of a run."""

from __future__ import annotations

from pathlib import Path

from msgspec import structs

from steelyard.formats.root_paths import path_from
from steelyard.results.options import Derived, StoredOptions


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


def options_from(root: Path, options: StoredOptions) -> StoredOptions:
    """The options with paths from a project's root on, as everybody may read them."""
    responses, derived = options.responses, options.derived
    return structs.replace(
        options,
        dataset=path_from(root, options.dataset),
        rubric=_name_from(root, options.rubric),
        judge=_name_from(root, options.judge),
        responses=path_from(root, responses) if responses else None,
        derived=_derived_from(root, derived) if derived else None,
    )


def _name_from(root: Path, name: str | None) -> str | None:
    """A reference, or a path from the root on."""
    return str(path_from(root, Path(name))) if name and Path(name).is_absolute() else name


def _derived_from(root: Path, derived: Derived) -> Derived:
    against = derived.against
    if against:
        against = structs.replace(against, folder=path_from(root, against.folder))
    return structs.replace(derived, folder=path_from(root, derived.folder), against=against)


def stored_options(kept: StoredOptions, group_id: str | None) -> RunOptions:
    """The options of a run that was kept."""
    return RunOptions(**structs.asdict(kept), group_id=group_id)
