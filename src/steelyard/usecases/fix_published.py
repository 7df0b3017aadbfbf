"""Fix the content of question rubrics whose files call them published, at their first use."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from io import BytesIO

from steelyard.contracts.definitions import fixed_bytes
from steelyard.model.definition import Definition
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.ports import Clock
from steelyard.usecases.load_definition import is_path
from steelyard.usecases.publish import contract_of, proposed_version, raw_value
from steelyard.usecases.references import References
from steelyard.usecases.registry import Registry


@dataclass(frozen=True, slots=True)
class PublishedFiles:
    """The rubrics of a project that may call themselves published."""

    registry: Registry
    references: References
    clock: Clock

    def fix(self, names: Collection[str]) -> None:
        """Publish those of the rubrics, by reference or path, whose files say that they are.

        A run or a label depends on them now: from here on other content under the same version
        is a conflict, which the file alone cannot tell.
        """
        held = {one.reference for one in self.registry.all("rubric")} if names else set[str]()
        for name in sorted(set(names) - held):
            found = self._found(name)
            content = found.content if found else None
            if found and isinstance(content, QuestionRubric) and _is_to_fix(content, held):
                self._add(found, content)

    def _found(self, name: str) -> Definition | None:
        if is_path(name):
            return self.references.at(name)
        reference = Reference.parse(name)
        return self.references.find(reference).definition if reference else None

    def _add(self, found: Definition, content: QuestionRubric) -> None:
        row = raw_value(found)
        data = fixed_bytes(row, contract_of(content))
        proposed = proposed_version(found, row, data, self.clock.stamp())
        # The file may have changed since it was read: what was used is what is fixed, or nothing.
        if proposed.sha256 == content.sha256:
            self.registry.add(proposed, {proposed.sha256: partial(BytesIO, data)})


def _is_to_fix(content: QuestionRubric, held: Collection[str]) -> bool:
    return content.status == "published" and str(content.reference) not in held
