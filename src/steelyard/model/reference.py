"""A pointer to a versioned thing: `rubric/basic@1.2`, `judge/accuracy@1.0.0`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from steelyard.model.frozen_struct import FrozenStruct

ReferenceKind: TypeAlias = Literal["rubric", "judge"]

_REFERENCE = re.compile(
    r"(rubric|judge)/([A-Za-z0-9][A-Za-z0-9_.-]*)(?:@([0-9A-Za-z.+-]{1,200}))?"
)


class Reference(FrozenStruct, frozen=True, kw_only=True):
    """Names a rubric or a judge; without a version it is unpinned."""

    kind: ReferenceKind
    id: str
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> Reference | None:
        """Read `kind/id@version`; None when the text is not of that form."""
        found = _REFERENCE.fullmatch(text)
        if found is None:
            return None
        kind, name, version = found.groups()
        return cls(kind=cast(ReferenceKind, kind), id=name, version=version)

    def __str__(self) -> str:
        """The form in which it is written in files."""
        pin = f"@{self.version}" if self.version else ""
        return f"{self.kind}/{self.id}{pin}"


def exact_version(version: str) -> str:
    """A version with all three numbers: `1.2` means exactly `1.2.0`."""
    main = re.split(r"[-+]", version, maxsplit=1)[0]
    filled = main + ".0" if main.count(".") == 1 else main
    return filled + version[len(main) :]


def exact_name(name: str) -> str:
    """A reference with all of its version: `rubric/basic@1.2` and `rubric/basic@1.2.0` are one.

    What is no reference, or has no version, stays as it is.
    """
    found = Reference.parse(name)
    if found is None or found.version is None:
        return name
    return str(replace(found, version=exact_version(found.version)))


def release_numbers(version: str) -> tuple[int, ...] | None:
    """The numbers of a release, to compare; None for a pre-release."""
    main = version.partition("+")[0]
    return None if "-" in main else tuple(int(part) for part in main.split("."))
