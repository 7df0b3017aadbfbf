"""The kinds of checks by name; built-ins and plug-ins are found the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from steelyard.checks.choice import Choice
from steelyard.checks.command import Command
from steelyard.checks.contains_all import ContainsAll
from steelyard.checks.cost import Cost
from steelyard.checks.ends_with import EndsWith
from steelyard.checks.equals import Equals
from steelyard.checks.fact_match import FactMatch
from steelyard.checks.field_accuracy import FieldAccuracy
from steelyard.checks.format import Format
from steelyard.checks.fuzzy_match import FuzzyMatch
from steelyard.checks.is_json import IsJson
from steelyard.checks.json_schema import JsonSchema
from steelyard.checks.latency import Latency
from steelyard.checks.markdown_structure import MarkdownStructure
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.must_not_contain import MustNotContain
from steelyard.checks.php_lint import PhpLint
from steelyard.checks.programs import NoPrograms, Programs
from steelyard.checks.regex import Regex
from steelyard.checks.setting_rules import arguments_of, names_of, schema_of
from steelyard.checks.starts_with import StartsWith
from steelyard.checks.token_usage import TokenUsage
from steelyard.checks.tool_trajectory import ToolTrajectory
from steelyard.checks.tool_usage import ToolUsage
from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import Check

BUILT_IN: tuple[type[Check], ...] = (
    *(Choice, Command, ContainsAll, Cost, EndsWith, Equals, FactMatch, FieldAccuracy, Format),
    *(
        FuzzyMatch,
        IsJson,
        JsonSchema,
        Latency,
        MarkdownStructure,
        MustContainAny,
        MustNotContain,
        PhpLint,
    ),
    *(Regex, StartsWith, TokenUsage, ToolTrajectory, ToolUsage),
)


class Catalog:
    """Finds a check's class by its kind."""

    def __init__(
        self, kinds: Iterable[type[Check]] = BUILT_IN, *, programs: Programs | None = None
    ) -> None:
        self._programs = programs or NoPrograms()
        self._kinds: dict[str, type[Check]] = {}
        for made in kinds:
            if made.kind in self._kinds:
                raise InvalidError(f"two kinds of check are called '{made.kind}'")
            self._kinds[made.kind] = made

    @property
    def programs(self) -> Programs:
        """What runs programs for checks."""
        return self._programs

    @property
    def allows_commands(self) -> bool:
        """Whether checks may run programs."""
        return not isinstance(self._programs, NoPrograms)

    @property
    def classes(self) -> tuple[type[Check], ...]:
        """The classes of all kinds."""
        return tuple(self._kinds.values())

    @property
    def kinds(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(sorted(self._kinds))

    def __contains__(self, kind: str) -> bool:
        return kind in self._kinds

    def setting_names(self, kind: str) -> frozenset[str]:
        """The names of a kind's settings."""
        return names_of(self._kinds[kind])

    def make(self, kind: str, settings: Mapping[str, JsonValue]) -> Check:
        """A check from its settings, whose shape has been checked by `fragment`."""
        if kind not in self._kinds:
            known = ", ".join(self.kinds)
            raise NotFoundError(f"unknown check kind '{kind}'; known kinds: {known}")
        made = cast(Any, self._kinds[kind])
        given = arguments_of(made, settings)
        if getattr(made, "runs_commands", False):
            given["programs"] = self._programs
        return made(**given)

    def description(self, kind: str) -> str:
        """What a kind looks for, in a sentence."""
        return (self._kinds[kind].__doc__ or kind).strip().partition("\n")[0]

    def fragment(self, kind: str) -> JsonObject:
        """The schema of a kind's settings, made from its dataclass."""
        return schema_of(self._kinds[kind])
