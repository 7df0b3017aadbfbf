"""Whether two runs are comparable, from their manifests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from msgspec import UnsetType

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import FIRST_REVISION
from steelyard.model.statistics.comparison import SELECTION, Mismatch
from steelyard.results.manifest import Manifest, RunSetup

_SETTINGS = ("temperature", "top_p", "max_new_tokens", "seed")
_SHOWN = 12
_DEFAULTS: JsonObject = {"repeat": 1, "cluster": "conversation_id"}
_Hashes: TypeAlias = dict[str, str | None]
_Prints: TypeAlias = tuple[set[str], set[str], bool]


def mismatches_of(a: Manifest, b: Manifest) -> Iterator[Mismatch]:
    """Differences other than the targets; by content, never by name or version."""
    first, second = a.setup, b.setup
    yield from _definitions("rubric", _rubrics(first), _rubrics(second))
    yield from _definitions("policy", _policies(first), _policies(second))
    yield from _definitions("program", _programs(first), _programs(second))
    yield from _revisions(first.graders, second.graders)
    yield from _judges(a, b)
    yield from _settings(first, second)


def _settings(a: RunSetup, b: RunSetup) -> Iterator[Mismatch]:
    for what, key in (
        ("pass threshold", "pass_threshold"),
        ("repeats", "repeat"),
        ("cluster", "cluster"),
    ):
        yield from _setting(what, _option(a, key), _option(b, key))
    for name in _SETTINGS:
        for found in _setting(name, getattr(a, name), getattr(b, name)):
            yield replace(found, is_serious=False)
    for name in SELECTION:
        for found in _setting(name, _option(a, name), _option(b, name), "none"):
            # Only records that both runs have are compared, so that a selection is not serious.
            yield replace(found, is_serious=False, is_refused=False)


def _setting(
    what: str, a: JsonValue, b: JsonValue, default: str = "the default"
) -> Iterator[Mismatch]:
    if a != b:
        first, second = (default if value is None else str(value) for value in (a, b))
        yield Mismatch(what=what, a=first, b=second)


def _option(setup: RunSetup, key: str) -> JsonValue:
    return getattr(setup.options, key) or _DEFAULTS.get(key)


def _definitions(what: str, a: _Hashes | None, b: _Hashes | None) -> Iterator[Mismatch]:
    """Definitions by name with the hash of everything that affects scores, if known."""
    # Runs of earlier versions record neither policies nor programs.
    if a is None or b is None:
        return
    first, second = ({str(sha256 or name) for name, sha256 in one.items()} for one in (a, b))
    if first != second:
        yield Mismatch(what=what, a=_named(a, b), b=_named(b, a))


def _named(those: _Hashes, others: _Hashes) -> str:
    """The names; with the hash if both runs have the name but different content."""
    if not those:
        return "none"
    return ", ".join(
        name if others.get(name, sha256) == sha256 else f"{name} (sha256 {_start(sha256)})"
        for name, sha256 in sorted(those.items())
    )


def _start(sha256: str | None) -> str:
    return "unknown" if sha256 is None else f"{sha256[:_SHOWN]}…"


def _rubrics(setup: RunSetup) -> _Hashes:
    # Runs of earlier versions only have the hash of the whole content.
    return {row.rubric: row.grading_sha256 or row.sha256 for row in setup.rubrics}


def _policies(setup: RunSetup) -> _Hashes | None:
    rows = setup.policies
    return None if isinstance(rows, UnsetType) else {row.policy: row.sha256 for row in rows}


def _programs(setup: RunSetup) -> _Hashes | None:
    rows = setup.programs
    return None if isinstance(rows, UnsetType) else {row.file: row.sha256 for row in rows}


def _revisions(a: dict[str, int] | UnsetType, b: dict[str, int] | UnsetType) -> Iterator[Mismatch]:
    """Check kinds with different revisions in the two runs."""
    for name in sorted({*(a or ()), *(b or ())}):
        # Runs of earlier versions record no revisions; theirs was the first.
        before, after = (
            FIRST_REVISION if isinstance(known, UnsetType) else known.get(name) for known in (a, b)
        )
        if before != after and None not in {before, after}:
            yield Mismatch(what=f"check {name}", a=f"revision {before}", b=f"revision {after}")


def _judges(a: Manifest, b: Manifest) -> Iterator[Mismatch]:
    """Judges by fingerprint: the same template with another model is another judge."""
    first, second = _fingerprints(a), _fingerprints(b)
    names = first.keys() | second.keys()
    if first.keys() != second.keys() or not all(
        _are_alike(first[name], second[name]) for name in names
    ):
        yield Mismatch(what="judge", a=_judge_names(first), b=_judge_names(second))


def _judge_names(judges: dict[str, _Prints]) -> str:
    return (
        ", ".join(
            f"{name} (fingerprint {min(asked, default='unknown')[:_SHOWN]}…)"
            for name, (asked, _, _) in sorted(judges.items())
        )
        or "none"
    )


def _fingerprints(manifest: Manifest) -> dict[str, _Prints]:
    """Per judge: the fingerprints of its questions and of its template, and if all are known.

    Its questions may differ between records, if records define criteria.
    """
    found: dict[str, _Prints] = {}
    for row in manifest.judges or ():
        asked, templates, _ = found.setdefault(row.judge, (set(), set(), True))
        prints = row.fingerprints or ()
        asked.update(prints)
        if row.fingerprint:
            templates.add(row.fingerprint)
        is_whole = (row.fingerprint_count or 0) <= len(prints)
        found[row.judge] = (asked, templates, is_whole)
    return found


def _are_alike(a: _Prints, b: _Prints) -> bool:
    """Another template, model or sampling changes the fingerprint of every question.

    A jury may use one judge on several targets, all of which must be the same.
    """
    if a[1] and b[1] and a[1] != b[1]:
        return False
    if a[0] & b[0] or a[0] == b[0]:
        return True
    is_partial = not (a[2] and b[2])
    return is_partial and bool(a[1]) and a[1] == b[1]
