"""Built-in catalogs together with what other installed packages add to them."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import ConfigError
from steelyard.store.installed import offered

if TYPE_CHECKING:
    from steelyard.checks.catalog import Catalog
    from steelyard.checks.programs import Programs
    from steelyard.contracts.catalog import Contracts
    from steelyard.contracts.contract import DatasetFile
    from steelyard.contracts.legal_eval.policies import Policies
    from steelyard.contracts.reading import DatasetReading


def installed_checks(programs: Programs | None = None) -> Catalog:
    """The kinds of checks: built in, and from `steelyard.checks` entry points."""
    from steelyard.checks.catalog import BUILT_IN, Catalog

    plugged = [_check(*one) for one in _loaded("check", "steelyard.checks")]
    return Catalog((*BUILT_IN, *plugged), programs=programs)


def installed_policies() -> Policies:
    """The policies of legal_eval rows: built in, and from `steelyard.policies` entry points."""
    from steelyard.contracts.legal_eval.policies import built_in_policies

    plugged = [found for _, found in _loaded("policy", "steelyard.policies")]
    return built_in_policies().with_plugins(plugged) if plugged else built_in_policies()


def installed_contracts() -> Contracts:
    """The contracts: built in, and from `steelyard.contracts` entry points."""
    from steelyard.contracts.catalog import BUILT_IN, GROUP, Contracts, load_contract

    def read_legal_eval(file: DatasetFile) -> DatasetReading:
        from steelyard.contracts.legal_eval.reader import read_legal_eval as read

        return read(file, installed_policies())

    plugged = [load_contract(point.name, point.load) for point in offered(GROUP)]
    return Contracts((*BUILT_IN, *plugged)).read_by("legal_eval", read_legal_eval)


def _check(name: str, found: Any) -> Any:
    """The class of a check; what is wrong with it is a ConfigError."""
    from steelyard.checks.setting_rules import schema_of

    named = f"the check '{name}' of steelyard.checks"
    if not _is_check(found):
        message = "must be a dataclass with a class variable 'kind' and a method 'check'"
        raise ConfigError(f"{named} {message}; it is: {found!r:.80}")
    try:
        schema_of(found)
    except (Exception, SystemExit) as wrong:  # noqa: BLE001 - to read its annotations may raise anything
        raise ConfigError(f"the settings of {named}: {type(wrong).__name__}: {wrong}") from None
    return found


def _is_check(found: object) -> bool:
    can_check = callable(getattr(found, "check", None) or getattr(found, "ask", None))
    has_kind = isinstance(getattr(found, "kind", None), str)
    return can_check and has_kind and isinstance(found, type) and is_dataclass(found)


def _loaded(what: str, group: str) -> list[tuple[str, Any]]:
    """What the entry points of a group lead to; one that cannot be loaded is a ConfigError."""
    found: list[tuple[str, Any]] = []
    for point in offered(group):
        try:
            found.append((point.name, point.load()))
        except (Exception, SystemExit) as wrong:  # noqa: BLE001 - a package may raise anything
            reason = f"{type(wrong).__name__}: {wrong}"
            raise ConfigError(
                f"the {what} '{point.name}' of {group} cannot be loaded: {reason}"
            ) from None
    return found
