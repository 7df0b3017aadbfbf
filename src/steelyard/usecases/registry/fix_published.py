"""Publishes rubrics and judges whose files have status `published`, at their first use."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from io import BytesIO

from steelyard.contracts.definitions import fixed_bytes
from steelyard.model.audit import Caller
from steelyard.model.definition import Definition, reference_to
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.published import Published
from steelyard.model.reference import Reference, ReferenceKind
from steelyard.ports import AuditLog, CallerPorts, Clock
from steelyard.usecases.registry.load_definition import is_path
from steelyard.usecases.registry.publish import (
    BUILT_IN,
    contract_of,
    proposed_version,
    raw_value,
)
from steelyard.usecases.registry.references import References
from steelyard.usecases.registry.registry import Registry

KINDS: tuple[ReferenceKind, ...] = ("rubric", "judge")


class PublishedFiles(FrozenStruct, frozen=True):
    """The rubrics and judges of a project that may have status `published`."""

    registry: Registry
    references: References
    clock: Clock
    audit: AuditLog

    def fix(self, names: Collection[str], caller: Caller) -> None:
        """Publish those, by reference or path, whose files say that they are.

        A run or a label depends on them now: from here on other content under the same version
        is a conflict.
        """
        if not names:
            return
        held = {one.reference for kind in KINDS for one in self.registry.all(kind)}
        for name in sorted(set(names) - held):
            found = self._found(name)
            if found and found.content and str(reference_to(found.content)) not in held:
                self.fix_one(found, caller)

    def _found(self, name: str) -> Definition | None:
        if is_path(name):
            return self.references.at(name)
        reference = Reference.parse(name)
        return self.references.find(reference).definition if reference else None

    def fix_one(self, found: Definition, caller: Caller) -> Published | None:
        """Publish a definition, if it says that it is; what is published under its version."""
        if found.path.startswith(BUILT_IN) or found.content is None:
            return None
        row = raw_value(found)
        if row.get("status") != "published":
            return None
        data = fixed_bytes(row, contract_of(found.content))
        proposed = proposed_version(found, row, data, self.clock.stamp())
        # The file may have changed since it was read: what was used is what is fixed, or nothing.
        if proposed.sha256 != found.content.sha256:
            return None
        ports = CallerPorts(clock=self.clock, caller=caller)
        stored = self.registry.add(proposed, {proposed.sha256: partial(BytesIO, data)})
        if stored == proposed:
            self.audit.add(ports.entry("fix_published", proposed.reference))
        return stored
