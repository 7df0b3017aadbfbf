"""Save, list and delete suites and targets; those of the project file are read-only."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from steelyard.errors import ConfigError, ConflictError, InvalidError, NotFoundError
from steelyard.formats.encoding import flaws
from steelyard.formats.names import shown_variable
from steelyard.model.addresses import is_public
from steelyard.model.audit import AuditEntry, Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.names import is_setting_name
from steelyard.ports import CallerPorts, Warn
from steelyard.project_file import PROJECT_FILE, read_settings
from steelyard.settings import Settings, SuiteSettings, TargetEntry
from steelyard.usecases.settings.shown_settings import sent_settings

SettingKind: TypeAlias = Literal["suites", "targets"]
"""The section of the project file that would hold it."""
Entry = TypeVar("Entry")
_NO_PATH = re.compile("[\0\ud800-\udfff]")
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$)(?:{_LABEL}\.)*{_LABEL}")
_LONGEST_NAME, _LONGEST_PATH = 255, 1000
_PATHS = ("path", "dataset", "rubric", "judge")
_PROVIDERS = ("openai", "anthropic", "http", "recorded", "echo")
_ADDRESSES = ("base_url", "url")
_BUILT_IN = ("targets", "echo")
_PAGE_NAMES = {("suites", "new")}
"""Names whose page would be another one: `/suites/new` is the form for a new suite."""
_ONE: dict[SettingKind, str] = {"suites": "suite", "targets": "target"}


class SavedSettings(Protocol):
    """The store of suites and targets, in the shape of the project file."""

    def all(self, kind: SettingKind) -> Mapping[str, JsonObject]:
        """Every entry by its name."""
        ...

    def changing(self, kind: SettingKind, name: str) -> AbstractContextManager[SavedSettingChange]:
        """A change of one entry in one transaction; an exception undoes all of it."""
        ...

    def delete(self, kind: SettingKind, name: str, entry: AuditEntry) -> bool:
        """Remove an entry and log it; False if it does not exist."""
        ...


class SavedSettingChange(Protocol):
    """One entry while nobody else can change it."""

    before: JsonObject | None
    """The entry as it is stored; None where it is new."""

    def put(self, row: JsonObject, entry: AuditEntry) -> None:
        """Keep the entry, in the place of the one before, and log it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingPorts(CallerPorts):
    """What saving suites and targets needs."""

    saved: SavedSettings
    settings: Settings
    """Those of the project file."""
    root: Path
    addresses_of: Callable[[str], Sequence[str]]
    """The network addresses of a host; none where its name does not resolve."""
    warn: Warn = lambda _message: None
    """Told once of each saved entry that is ignored."""


class ListedSetting(NamedTuple, Generic[Entry]):
    """A suite or target by name, and whether it is saved in the store."""

    name: str
    entry: Entry
    is_saved: bool


def read_suite(ports: SettingPorts, name: str, row: JsonObject) -> SuiteSettings:
    """The suite that a row stands for, as it would be saved; a name that is taken is refused."""
    suite = _read(ports, "suites", name, row).suites[name]
    _require_untaken(ports, "suites", name)
    return suite


def save_suite(
    ports: SettingPorts,
    name: str,
    row: JsonObject,
    *,
    is_update: bool = True,
    caller: Caller | None = None,
) -> bool:
    """Save a suite, and say whether it is new; only an update replaces another one."""
    suite = read_suite(ports, name, row)
    ports = ports.called_by(caller)
    with ports.saved.changing("suites", name) as change:
        before = _read_saved("suites", name, change.before)
        if before and before.suites[name] == suite:
            return False
        if before and not is_update:
            raise _taken_otherwise("suites", name)
        change.put(row, ports.entry("save_suite", name))
    return before is None


class SavedTarget(NamedTuple):
    """A target that is saved now."""

    entry: TargetEntry
    is_new: bool


def save_target(
    ports: SettingPorts,
    name: str,
    row: JsonObject,
    *,
    is_update: bool = True,
    caller: Caller | None = None,
) -> SavedTarget:
    """Save a target; settings that only the project file may define are refused.

    Another target of the same name is only replaced by an update. The row may be what was shown
    of the target.
    """
    _require_name(name)
    ports = ports.called_by(caller)
    whole = sent_settings(row, ports.saved.all("targets").get(name))
    entry = _read_target(ports, name, whole)
    with ports.saved.changing("targets", name) as change:
        before = change.before
        if sent_settings(row, before) != whole:
            raise ConflictError(f"the target '{name}' has just been changed; try again")
        if before is not None and not is_update and not _is_same(ports, name, before, whole):
            raise _taken_otherwise("targets", name)
        change.put(whole, ports.entry("save_target", name))
    return SavedTarget(_guarded(ports.settings, entry), before is None)


def _read_target(ports: SettingPorts, name: str, row: JsonObject) -> TargetEntry:
    # First: of what only the project file may define, no setting can be right.
    if wrong := _not_over_http(row.get("provider")):
        raise InvalidError(f"targets.{name}: {wrong}")
    entry = _read(ports, "targets", name, row).targets[name]
    for wrong in (*_forbidden(entry, ports.settings.allow.env), *_unreachable(ports, entry)):
        raise InvalidError(f"targets.{name}: {wrong}")
    _require_untaken(ports, "targets", name)
    return entry


def _taken_otherwise(kind: SettingKind, name: str) -> ConflictError:
    one = _ONE[kind]
    return ConflictError(f"there is a {one} '{name}' with other settings; update it instead")


def _is_same(ports: SettingPorts, name: str, before: JsonObject, row: JsonObject) -> bool:
    """Whether two rows stand for one target, whatever they leave to a default."""
    old, new = (_read_saved("targets", name, one) for one in (before, row))
    if old is None or new is None:
        return old is None  # what cannot be used is as good as not there
    first, second = (_guarded(ports.settings, one.targets[name]) for one in (old, new))
    return first == second


def _read_saved(kind: SettingKind, name: str, row: JsonObject | None) -> Settings | None:
    """The settings with a saved entry; None where there is none that can be used."""
    try:
        return None if row is None else read_settings({kind: {name: row}})
    except ConfigError:
        return None


def list_suites(ports: SettingPorts) -> list[ListedSetting[SuiteSettings]]:
    """The suites of the project file and of the store, by name."""
    return _listed(with_saved(ports).suites, ports.settings.suites)


def list_targets(ports: SettingPorts) -> list[ListedSetting[TargetEntry]]:
    """The targets of the project file and of the store, by name."""
    return _listed(with_saved(ports).targets, ports.settings.targets)


def delete_suite(ports: SettingPorts, name: str, *, caller: Caller | None = None) -> None:
    """Remove a saved suite."""
    _delete(ports.called_by(caller), "suites", name)


def delete_target(ports: SettingPorts, name: str, *, caller: Caller | None = None) -> None:
    """Remove a saved target."""
    _delete(ports.called_by(caller), "targets", name)


def with_saved(ports: SettingPorts) -> Settings:
    """The settings with the saved entries; the project file takes precedence."""
    settings, saved = ports.settings, ports.saved
    rows: dict[SettingKind, Mapping[str, JsonObject]] = {
        "suites": saved.all("suites"),
        "targets": saved.all("targets"),
    }
    if not any(rows.values()):
        return settings
    found = _usable(ports, rows)
    # Checked again: the database may have been restored from a back-up of somebody else.
    targets = {
        name: _guarded(settings, entry)
        for name, entry in found.targets.items()
        if not any(_forbidden(entry, settings.allow.env))
    }
    return replace(
        settings,
        suites={**found.suites, **settings.suites},
        targets={**targets, **settings.targets},
    )


def _usable(ports: SettingPorts, rows: Mapping[SettingKind, Mapping[str, JsonObject]]) -> Settings:
    """The saved entries that can be read as settings."""
    try:
        return read_settings(cast(JsonObject, rows))
    except ConfigError:
        pass
    kept: dict[str, JsonObject] = {"suites": {}, "targets": {}}
    for kind, entries in rows.items():
        for name, row in entries.items():
            try:
                read_settings({kind: {name: row}})
            except ConfigError as wrong:
                ports.warn(f"the saved {_ONE[kind]} '{name}' is ignored: {wrong}")
            else:
                kept[kind][name] = row
    return read_settings(cast(JsonObject, kept))


def _listed(all_: Mapping[str, Entry], own: Mapping[str, Entry]) -> list[ListedSetting[Entry]]:
    return [ListedSetting(name, all_[name], name not in own) for name in sorted(all_)]


def _read(ports: SettingPorts, kind: SettingKind, name: str, row: JsonObject) -> Settings:
    """The settings with this entry, validated like the project file."""
    _require_name(name)
    if (kind, name) in _PAGE_NAMES:
        raise InvalidError(f"a {_ONE[kind]} cannot be called '{name}'; take another name")
    if not _is_json(row):
        raise InvalidError(f"{kind}.{name} must be JSON: objects with text keys, lists and values")
    try:
        read = read_settings({kind: {name: row}})
    except ConfigError as wrong:
        # It is not the file that was sent.
        raise InvalidError(str(wrong).replace(PROJECT_FILE, f"a {_ONE[kind]}")) from None
    if "${" in json.dumps(row):
        raise InvalidError(f"{kind}.{name}: ${{NAME}} is allowed only in {PROJECT_FILE}")
    if any(flaw == "surrogate" for _, flaw in flaws(row)):
        raise InvalidError(f"{kind}.{name}: a text holds half a surrogate pair")
    for key in _PATHS:
        if not _is_inside(ports, row.get(key)):
            raise InvalidError(f"{kind}.{name}: '{key}' must be inside the project: {row[key]}")
    return read


def _require_name(name: object) -> None:
    if not isinstance(name, str) or not is_setting_name(name):
        raise InvalidError(f"{name!r} is not a valid name; use letters, digits, '.', '_' and '-'")


def _is_json(row: object) -> bool:
    """Whether a row can be kept as it is; how deep it may be nested is for the schema to say."""
    try:
        return json.loads(json.dumps(row)) == row
    except RecursionError:
        return True
    except (TypeError, ValueError):
        return False


def _is_inside(ports: SettingPorts, value: object) -> bool:
    """Whether a path, if it is one, leads to a file of the project that runs may read."""
    if not isinstance(value, str):
        return True
    kinds = (PurePosixPath(value), PureWindowsPath(value))
    names = [part.encode("utf-8", "replace") for part in kinds[0].parts]
    if len(value) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in names):
        return False  # no file has such a name
    if _NO_PATH.search(value) or any(path.anchor or ".." in path.parts for path in kinds):
        return False
    if not ports.settings.allow.dot_files and any(one[0] == "." for one in kinds[0].parts):
        return False
    try:
        return (ports.root / value).resolve().is_relative_to(ports.root.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def _forbidden(entry: TargetEntry, variables: tuple[str, ...]) -> Iterator[str]:
    """Why only the project file may define a target."""
    if wrong := _not_over_http(entry.provider):
        yield wrong
    for key in (one for one in ("ca_file", "proxy", "resources") if one in entry.row()):
        yield f"only {PROJECT_FILE} may name a '{key}'"
    if (key := entry.extra.get("api_key_env")) is not None and key not in variables:
        shown = shown_variable(str(key))
        yield f"the variable {shown} is not listed in allow.env of {PROJECT_FILE}"
    for place in entry.written_secrets():
        yield f"{place} would keep a secret; name its variable with api_key_env"


def _not_over_http(provider: object) -> str | None:
    """Why only the project file may define targets of a provider."""
    if not isinstance(provider, str) or provider in _PROVIDERS:
        return None
    return f"only {PROJECT_FILE} may define a target with the provider '{provider}'"


def _unreachable(ports: SettingPorts, entry: TargetEntry) -> Iterator[str]:
    """Why a target would reach what is not for everybody."""
    for key in _ADDRESSES:
        text = entry.text(key)
        if not text:
            continue
        host = _host(text)
        if host is None:
            yield f"{key} is no http(s) address"
        elif host not in _allowed(ports.settings):
            for address in ports.addresses_of(host):
                if not is_public(address):
                    yield (
                        f"{key} leads to {address}, which is not a public address; list {host} "
                        f"under allow.hosts of {PROJECT_FILE} to allow it"
                    )


def _guarded(settings: Settings, entry: TargetEntry) -> TargetEntry:
    """A saved target, which reaches nothing but public addresses and the hosts on the list."""
    if not any(entry.text(key) for key in _ADDRESSES) and entry.provider in {"echo", "recorded"}:
        return entry
    hosts = {_host(entry.text(key)) for key in _ADDRESSES if entry.text(key)}
    is_allowed = bool(hosts) and hosts <= _allowed(settings)
    return replace(entry, public_only=None if is_allowed else True)


def _allowed(settings: Settings) -> set[str | None]:
    return {host.strip("[]").rstrip(".").lower() for host in settings.allow.hosts}


def _host(text: str) -> str | None:
    """The host of an http address; None where it is none."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    host = str(parts.hostname or "").rstrip(".").lower()
    is_usable = parts.scheme in {"http", "https"} and port != 0
    return host if is_usable and _is_host(host, is_literal="[" in parts.netloc) else None


def _is_host(host: str, *, is_literal: bool) -> bool:
    """Whether a text is the address of a host, without a zone of this machine, or a name."""
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return "%" not in host
    try:
        name = host.encode("idna").decode("ascii")
    except UnicodeError:
        return False
    return not is_literal and _HOST_NAME.fullmatch(name) is not None


def _require_untaken(ports: SettingPorts, kind: SettingKind, name: str) -> None:
    if taken := _taken(ports, kind, name):
        raise ConflictError(f"{taken}; take another name")


def _delete(ports: SettingPorts, kind: SettingKind, name: str) -> None:
    _require_name(name)
    if ports.saved.delete(kind, name, ports.entry(f"delete_{_ONE[kind]}", name)):
        return
    if taken := _taken(ports, kind, name):
        raise ConflictError(f"{taken}; only what was saved can be deleted")
    raise NotFoundError(f"there is no {_ONE[kind]} '{name}'")


def _taken(ports: SettingPorts, kind: SettingKind, name: str) -> str | None:
    """Who has a name for good; None where nobody has."""
    if name in (ports.settings.suites if kind == "suites" else ports.settings.targets):
        return f"{kind}.{name} is defined in {PROJECT_FILE}"
    return f"{kind}.{name} is built in" if (kind, name) == _BUILT_IN else None
