"""Fix the content of question rubrics whose files call them published, at their first use."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from io import BytesIO

from steelyard.contracts.definitions import fixed_bytes
from steelyard.model.definition import Definition
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.usecases.publish import contract_of, proposed_version, raw_value
from steelyard.usecases.registry import RegistryDoor


def fix_published(door: RegistryDoor, names: Collection[str]) -> None:
    """Publish those of the named rubrics whose files say that they are.

    A run or a label depends on them now: from here on other content under the same version is a
    conflict, which the file alone cannot tell.
    """
    held = {one.reference for one in door.registry.all("rubric")}
    for name in sorted(set(names) - held):
        reference = Reference.parse(name)
        found = door.references.find(reference).definition if reference else None
        content = found.content if found else None
        if found and isinstance(content, QuestionRubric) and content.status == "published":
            _fix(door, found, content)


def _fix(door: RegistryDoor, found: Definition, content: QuestionRubric) -> None:
    row = raw_value(found)
    data = fixed_bytes(row, contract_of(content))
    proposed = proposed_version(door, found, row, data)
    # The file may have changed since it was read: what was used is what is fixed, or nothing.
    if proposed.sha256 == content.sha256:
        door.registry.add(proposed, {proposed.sha256: partial(BytesIO, data)})
