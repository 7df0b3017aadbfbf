"""`markdown_structure`: the response has the shape that a page should have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple, TypeAlias

from steelyard.checks.markdown import Outline, outline
from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import Phrase, clip, fold
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

_COUNT = {"minimum": 0}
_Sought: TypeAlias = Annotated[str, Rule("A text; not empty.", {"minLength": 1})]


class _Demand(NamedTuple):
    is_met: bool
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownStructure:
    """Pass when every demand is met; the score is the share of them that is."""

    kind: ClassVar[str] = "markdown_structure"
    revision: ClassVar[int] = 2

    min_headings: Annotated[int | None, Rule("Headings at least.", _COUNT)] = None
    max_heading_level: Annotated[
        int | None, Rule("The deepest heading allowed.", {"minimum": 1, "maximum": 6})
    ] = None
    no_h1: Annotated[bool, Rule("Whether headings of level 1 are forbidden.")] = False
    required_sections: Annotated[
        tuple[_Sought, ...], Rule("Texts each of which some heading contains, in any case.")
    ] = ()
    forbidden_patterns: Annotated[
        tuple[_Sought, ...], Rule("Texts that stand nowhere, in exactly this case.")
    ] = ()
    min_code_blocks: Annotated[int | None, Rule("Fenced blocks at least.", _COUNT)] = None
    min_paragraphs: Annotated[
        int | None, Rule("Lines of text outside of fences and headings at least.", _COUNT)
    ] = None

    def __post_init__(self) -> None:
        """Refuse what would always, or never, be found."""
        for name in ("required_sections", "forbidden_patterns"):
            if "" in getattr(self, name):
                raise SettingError(name, "a text to look for must not be empty")

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Compare the outline of the response with each demand."""
        demands = [*self._demands(trace.response, outline(trace.response))]
        if not demands:
            return Outcome.skipped("the check demands nothing")
        faults = [demand.fault for demand in demands if not demand.is_met]
        if not faults:
            return Outcome.passing(f"meets all of {len(demands)} demand(s)")
        return Outcome(
            passed=False, score=1 - len(faults) / len(demands), reason="; ".join(faults[:5])
        )

    def _demands(self, text: str, found: Outline) -> Iterator[_Demand]:
        counts = (
            ("heading(s)", len(found.headings), self.min_headings),
            ("code block(s)", len(found.fences), self.min_code_blocks),
            ("paragraph(s)", found.paragraphs, self.min_paragraphs),
        )
        for name, count, least in counts:
            if least is not None:
                yield _Demand(count >= least, f"has {count} {name}, fewer than {least}")
        yield from self._heading_demands(found)
        given = fold(text, ignore_case=False)
        for pattern in self.forbidden_patterns:
            is_there = Phrase(pattern, ignore_case=False).is_in(given)
            yield _Demand(not is_there, f"contains {clip(pattern)!r}")

    def _heading_demands(self, found: Outline) -> Iterator[_Demand]:
        levels = [heading.level for heading in found.headings]
        if self.max_heading_level is not None:
            deepest = max(levels, default=0)
            fault = f"has a heading of level {deepest}, below {self.max_heading_level}"
            yield _Demand(deepest <= self.max_heading_level, fault)
        if self.no_h1:
            yield _Demand(1 not in levels, "has a heading of level 1")
        titles = [fold(heading.text, ignore_case=True) for heading in found.headings]
        for section in self.required_sections:
            wanted = Phrase(section, ignore_case=True)
            is_there = any(wanted.is_in(title) for title in titles)
            yield _Demand(is_there, f"has no heading with {clip(section)!r}")
