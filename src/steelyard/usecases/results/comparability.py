"""Whether two runs measure the same, from what their manifests say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias, cast

from steelyard.model.comparison import SELECTION, Mismatch
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import FIRST_REVISION

_SETTINGS = ("temperature", "top_p", "max_new_tokens", "seed")
_SHOWN = 12
_DEFAULTS: JsonObject = {"repeat": 1, "cluster": "conversation_id"}
_Prints: TypeAlias = tuple[set[str], set[str], bool]


def mismatches_of(a: JsonObject, b: JsonObject) -> Iterator[Mismatch]:
    """What differs beside the targets: content decides, never a name or a version."""
    yield from _definitions("rubric", *(_rubrics(manifest) for manifest in (a, b)))
    # Runs of earlier versions tell neither.
    if "policies" in a and "policies" in b:
        yield from _definitions("policy", *(_policies(manifest) for manifest in (a, b)))
    if "programs" in a and "programs" in b:
        yield from _definitions("program", *(_programs(manifest) for manifest in (a, b)))
    yield from _revisions(a, b)
    yield from _judges(a, b)
    for what, key in (
        ("pass threshold", "pass_threshold"),
        ("repeats", "repeat"),
        ("cluster", "cluster"),
    ):
        yield from _setting(what, _option(a, key), _option(b, key))
    for name in _SETTINGS:
        for found in _setting(name, a.get(name), b.get(name)):
            yield replace(found, is_serious=False)
    for name in SELECTION:
        for found in _setting(name, _option(a, name), _option(b, name), "none"):
            # Only records that both runs have are compared, so that the numbers mean the same.
            yield replace(found, is_serious=False, is_refused=False)


def _setting(
    what: str, a: JsonValue, b: JsonValue, default: str = "the default"
) -> Iterator[Mismatch]:
    if a != b:
        first, second = (default if value is None else str(value) for value in (a, b))
        yield Mismatch(what=what, a=first, b=second)


def _option(manifest: JsonObject, key: str) -> JsonValue:
    options = cast(JsonObject, manifest.get("options") or {})
    return options.get(key) or _DEFAULTS.get(key)


def _definitions(
    what: str, a: dict[str, JsonValue], b: dict[str, JsonValue]
) -> Iterator[Mismatch]:
    """Definitions by name with the hash of what scores depend on, where they have one."""
    first, second = ({str(sha256 or name) for name, sha256 in one.items()} for one in (a, b))
    if first != second:
        yield Mismatch(what=what, a=_named(a, b), b=_named(b, a))


def _named(those: dict[str, JsonValue], others: dict[str, JsonValue]) -> str:
    """The names; one that both have is told with its hash, because its content differs."""
    if not those:
        return "none"
    return ", ".join(
        name if others.get(name, sha256) == sha256 else f"{name} (sha256 {_start(sha256)})"
        for name, sha256 in sorted(those.items())
    )


def _start(sha256: JsonValue) -> str:
    return "unknown" if sha256 is None else f"{str(sha256)[:_SHOWN]}…"


def _rubrics(manifest: JsonObject) -> dict[str, JsonValue]:
    rows = cast(list[JsonObject], manifest.get("rubrics") or [])
    # Runs of earlier versions know the hash of the whole content alone.
    return {
        cast(str, row["rubric"]): row.get("grading_sha256") or row.get("sha256") for row in rows
    }


def _policies(manifest: JsonObject) -> dict[str, JsonValue]:
    rows = cast(list[JsonObject], manifest.get("policies") or [])
    return {f"{row.get('policy')}": row.get("sha256") for row in rows}


def _programs(manifest: JsonObject) -> dict[str, JsonValue]:
    rows = cast(list[JsonObject], manifest.get("programs") or [])
    return {cast(str, row["file"]): row["sha256"] for row in rows}


def _revisions(a: JsonObject, b: JsonObject) -> Iterator[Mismatch]:
    """Kinds of checks that have learned to grade otherwise between two runs."""
    first, second = (cast("dict[str, int] | None", one.get("graders")) for one in (a, b))
    for name in sorted({*(first or ()), *(second or ())}):
        # Runs of earlier versions tell no kinds; theirs had the first revision.
        before, after = (
            FIRST_REVISION if known is None else known.get(name) for known in (first, second)
        )
        if before != after and None not in {before, after}:
            yield Mismatch(what=f"check {name}", a=f"revision {before}", b=f"revision {after}")


def _judges(a: JsonObject, b: JsonObject) -> Iterator[Mismatch]:
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


def _fingerprints(manifest: JsonObject) -> dict[str, _Prints]:
    """Of each judge: the fingerprints of all it asks, those of its template, and if all are known.

    What it asks may differ from record to record, where records bring criteria of their own.
    """
    found: dict[str, _Prints] = {}
    for row in cast(list[JsonObject], manifest.get("judges") or []):
        asked, templates, _ = found.setdefault(cast(str, row["judge"]), (set(), set(), True))
        prints = cast("list[str]", row.get("fingerprints") or [])
        asked.update(prints)
        if row.get("fingerprint"):
            templates.add(cast(str, row["fingerprint"]))
        is_whole = cast(int, row.get("fingerprint_count", len(prints))) <= len(prints)
        found[cast(str, row["judge"])] = (asked, templates, is_whole)
    return found


def _are_alike(a: _Prints, b: _Prints) -> bool:
    """Another template, model or sampling changes the fingerprint of everything that is asked.

    A jury asks one judge through several targets, all of which must be the same.
    """
    if a[1] and b[1] and a[1] != b[1]:
        return False
    if a[0] & b[0] or a[0] == b[0]:
        return True
    is_partial = not (a[2] and b[2])
    return is_partial and bool(a[1]) and a[1] == b[1]
