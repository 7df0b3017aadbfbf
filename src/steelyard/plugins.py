"""Built-in catalogs together with what other installed packages add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.store.installed import offered

if TYPE_CHECKING:
    from steelyard.checks.catalog import Catalog
    from steelyard.checks.programs import Programs
    from steelyard.contracts.legal_eval.policies import Policies


def installed_checks(programs: Programs | None = None) -> Catalog:
    """The kinds of checks: built in, and from `steelyard.checks` entry points."""
    from steelyard.checks.catalog import BUILT_IN, Catalog

    plugged = [point.load() for point in offered("steelyard.checks")]
    return Catalog((*BUILT_IN, *plugged), programs=programs)


def installed_policies() -> Policies:
    """The policies of legal_eval rows: built in, and from `steelyard.policies` entry points."""
    from steelyard.contracts.legal_eval.policies import built_in_policies

    plugged = [point.load() for point in offered("steelyard.policies")]
    return built_in_policies().with_plugins(plugged) if plugged else built_in_policies()
