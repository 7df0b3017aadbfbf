"""A project's rubrics and judges, written down in a test."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from steelyard.checks.catalog import Catalog
from steelyard.model.definition import Definition
from steelyard.model.reference import ReferenceKind
from steelyard.model.rubric import Rubric
from steelyard.store.definitions import DefinitionFolder
from steelyard.store.registry import FileRegistry
from steelyard.usecases.registry.references import References

NOW = datetime(2026, 6, 1, tzinfo=UTC)
RUBRIC = """\
id: {id}
version: "{version}"
checks:
  - {{id: right, kind: equals}}
scoring: {{combine: all_pass}}
"""
JUDGE = """\
id: {id}
version: "{version}"
template: "{{{{ output }}}}"
"""
QUESTIONS = """\
name: Quality
version: {version}
status: {status}
questions: [{{key: good, label: Good?, type: yes_no}}]
"""


class DefinitionProject:
    """A folder with rubrics and judges to write, and references to look up."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, name: str, text: str) -> Path:
        """A file from the root on."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def rubric(self, reference: str, *checks: str) -> Path:
        """A rubric `id@version` with the given checks, or with one that is simple."""
        name, _, version = reference.partition("@")
        text = RUBRIC.format(id=name, version=version)
        if checks:
            listed = "".join(f"  - {check}\n" for check in checks)
            text = text.replace("  - {id: right, kind: equals}\n", listed)
        return self.write(f"rubrics/{reference}.yaml", text)

    def judge(self, reference: str, more: str = "") -> Path:
        """A judge `id@version` with further fields."""
        name, _, version = reference.partition("@")
        text = JUDGE.format(id=name, version=version) + more
        return self.write(f"judges/{reference}.yaml", text)

    def questions(self, version: str, status: str = "published") -> Path:
        """A question rubric."""
        text = QUESTIONS.format(version=version, status=status)
        return self.write(f"rubrics/{version}.yml", text)

    @property
    def folder(self) -> DefinitionFolder:
        """The files as they stand now."""
        return DefinitionFolder(self.root, Catalog(), self.registry)

    @property
    def registry(self) -> FileRegistry:
        """What was published."""
        return FileRegistry(self.root / ".steelyard" / "registry")

    @property
    def references(self) -> References:
        """The references as they stand now, on a day in June."""
        return References(self.folder, NOW)


def asks(judge: str) -> str:
    """A check that asks a judge."""
    return f"{{id: asks, kind: llm_judge, judge_prompt_ref: {judge}}}"


def composed_of(rubric: str) -> str:
    """A check that another rubric is."""
    return f"{{id: inner, kind: composite, rubric_ref: {rubric}}}"


class OneRubric:
    """The files of a project with one rubric."""

    def __init__(self, rubric: Rubric) -> None:
        name = f"rubrics/{rubric.id}.yaml"
        self._definition = Definition(path=f"/{name}", shown=name, content=rubric)

    def all(self, kind: ReferenceKind) -> list[Definition]:
        """The rubric, and no judge."""
        return [self._definition] if kind == "rubric" else []

    def at(self, name: str) -> None:
        """No path leads to it."""

    def published(self, kind: ReferenceKind) -> list[Definition]:
        """Nothing."""
        del kind
        return []


def one_rubric(rubric: Rubric) -> References:
    """References of a project with one rubric."""
    return References(OneRubric(rubric), NOW)
