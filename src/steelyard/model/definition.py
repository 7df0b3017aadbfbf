"""A rubric or a judge as it stands in a file."""

from __future__ import annotations

from typing import TypeAlias

from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.model.rubric import Rubric

Content: TypeAlias = Rubric | QuestionRubric | Judge


class Definition(FrozenStruct, frozen=True, kw_only=True):
    """One file of `rubrics/` or `judges/`, or a published one; without content, the findings say
    why."""

    path: str
    """Where the file is, in full."""
    shown: str
    """The same as people see it from the project's root."""
    content: Content | None = None
    findings: tuple[Finding, ...] = ()
    is_published: bool = False
    """Whether it is no file of the project but a version that the registry holds."""
    is_archived: bool = False
    """Whether no new run may use it."""
    data: bytes | None = None
    """The content of one that is saved in the store; the path leads nowhere then."""

    @property
    def stem(self) -> str:
        """The id that the file's name promises: what stands before the version and the ending."""
        name = self.shown.rpartition("/")[2]
        return name.rpartition(".")[0].partition("@")[0]


def reference_to(content: Content) -> Reference:
    """The reference that names exactly this rubric or judge."""
    if isinstance(content, QuestionRubric):
        return content.reference
    kind = "judge" if isinstance(content, Judge) else "rubric"
    return Reference(kind=kind, id=content.id, version=content.version)
