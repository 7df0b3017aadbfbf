"""Entries of the registry, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, TypeAlias

from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.reports.findings import Paint, printable

Origin: TypeAlias = Literal["file", "store", "registry", "built in"]
_STYLES = {"published": "good", "changed": "error", "broken": "error", "archived": "quiet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedVersion:
    """One version in a list."""

    id: str
    version: str | None = None
    status: str
    """`published`, `archived`, `not published`, `changed`, `built in` or `broken`."""
    source: str
    """The file, or the path in the registry if there is no file."""
    sha256: str | None = None
    published_at: str | None = None
    contract: str | None = None
    """None for a broken file."""
    origin: Origin = "file"
    """Where its content is: in a file of the project, the store, the registry or the package."""
    title: str = ""
    """What it is called, or what it says about itself."""
    parts: int | None = None
    """How many checks or questions a rubric has."""

    @property
    def name(self) -> str:
        """The reference without its kind."""
        return f"{self.id}@{self.version}" if self.version else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One version with its content, its references and its users."""

    reference: str
    contract: str
    listed: ListedVersion
    content: JsonObject
    refers_to: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()
    versions: tuple[str | None, ...] = ()
    """Every version of the same id, oldest first."""
    findings: tuple[Finding, ...] = ()
    """What is to say against it, where that is known."""


def list_lines(kind: str, listed: Sequence[ListedVersion], paint: Paint) -> Iterator[str]:
    """A line for each version."""
    if not listed:
        yield f"no {kind} yet; `steelyard {kind} publish PATH` publishes a version"
    width = max((len(_name(one)) for one in listed), default=0)
    for one in listed:
        status = paint(f"{one.status:<13}", _STYLES.get(one.status, "warning"))
        sha256 = one.sha256[:12] if one.sha256 else " " * 12
        when = (one.published_at or "")[:19].replace("T", " ")
        yield f"{_name(one):<{width}}  {status}  {sha256}  {when:<19}  {printable(one.source)}"


def list_json(listed: Sequence[ListedVersion]) -> JsonObject:
    """Every id with its versions."""
    return {
        "data": [
            {
                "id": name,
                "versions": [
                    {
                        "version": one.version,
                        "status": one.status,
                        "sha256": one.sha256,
                        "published_at": one.published_at,
                        "source": one.source,
                    }
                    for one in versions
                ],
            }
            for name, versions in groupby(listed, key=lambda one: one.id)
        ]
    }


def shown_text(shown: Shown) -> str:
    """The content as YAML, with everything else in comments: the output is a valid file."""
    listed = shown.listed
    when = f" at {listed.published_at}" if listed.published_at else ""
    head = [
        f"{shown.reference}: {listed.status}{when}",
        f"sha256 {listed.sha256}",
        f"{shown.contract} of {listed.source}",
        *(f"refers to {other}" for other in shown.refers_to),
        *(f"used by {other}" for other in shown.used_by),
    ]
    comments = "".join(f"# {printable(line)}\n" for line in head)
    return comments + write_yaml(shown.content).decode("utf-8", "backslashreplace")


def shown_json(shown: Shown) -> JsonObject:
    """The version as one JSON object."""
    listed = shown.listed
    return {
        "reference": shown.reference,
        "contract": shown.contract,
        "status": listed.status,
        "sha256": listed.sha256,
        "published_at": listed.published_at,
        "source": listed.source,
        "refers_to": list(shown.refers_to),
        "used_by": list(shown.used_by),
        "content": shown.content,
    }


def _name(listed: ListedVersion) -> str:
    return printable(listed.name)
