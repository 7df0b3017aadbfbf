"""A promptfoo project as a source of cases, with a project file for its targets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.errors import NotFoundError, ParseError, UnreadableFileError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_fields import fields
from steelyard.formats.json_text import parse_json
from steelyard.formats.yaml_text import parse_yaml
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject
from steelyard.ports import Workspace
from steelyard.project_file import PROJECT_FILE, parse_settings
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.intake import Beside
from steelyard.usecases.convert.promptfoo.context import ProgramFolder
from steelyard.usecases.convert.promptfoo.importer import PromptfooProject, checked_config
from steelyard.usecases.convert.promptfoo.programs import RUNNERS
from steelyard.usecases.convert.promptfoo.source import ConfigFiles, refuse_program
from steelyard.usecases.convert.source import CaseRows

_MAX_CONFIG = 64 * 1024 * 1024
_NAMES = ("promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json")
_PACKAGE = "steelyard.usecases.convert.promptfoo"
_HEADER = "# Targets of {source}; keys are only ever named by environment variable.\n"
_JUDGES = """\
# Some cases need a judge, and which target judges is never guessed:
# judges: {default: {target: NAME}}
"""
_UNGRADED = "nothing grades any case, so that every run of them needs a rubric"
_NO_FILE = "targets are written beside the output, and stdout has no folder"


def promptfoo_cases(ports: ConvertPorts, options: ConvertOptions) -> CaseRows:
    """The tests of a project as cases, with its providers as targets beside them."""
    intake = PromptfooIntake(ports.workspace, options.source, options.output)
    return CaseRows(
        contract="eval_cases",
        dataset=intake.path.resolve().stem,
        path=intake.path,
        imports=intake.cases(),
        description=intake.description,
        changes=tuple(intake.project.changes),
        beside=intake.beside,
    )


class PromptfooIntake:
    """The cases of a configuration, and what is written beside them."""

    def __init__(self, workspace: Workspace, path: Path, output: Path | None) -> None:
        self.workspace = workspace
        self.path = _config_path(workspace, path)
        self.output = output
        self._runners: set[str] = set()
        self._is_judged = False
        self._is_graded = False
        config = _config(workspace, self.path)
        source = ConfigFiles(workspace.files_of(self.path))
        self.project = PromptfooProject(config, source, self.path.name, self._programs())

    def _programs(self) -> ProgramFolder | None:
        """How programs are named, if the project of the output allows them."""
        found = _project_path(self.workspace, self.output) if self.output else None
        if found is None or self.output is None:
            return None
        with self.workspace.open(found) as stream:
            settings = parse_settings(stream.read(), str(found))
        if not settings.allow.commands:
            return None
        folder = os.path.relpath(self.path.resolve().parent, self.output.resolve().parent)
        return ProgramFolder("" if folder == "." else f"{Path(folder).as_posix()}/")

    @property
    def description(self) -> str:
        """What the configuration says of itself."""
        return str(self.project.config.get("description") or "")

    def cases(self) -> Iterator[tuple[str, Import]]:
        """The cases, and the programs and judges that they need."""
        for place, found in self.project.cases():
            if isinstance(found, Imported):
                self._note(found.row)
            yield place, found

    def _note(self, row: JsonObject) -> None:
        text = json.dumps(row.get("evaluators", []))
        self._runners |= {kind for kind, runner in RUNNERS.items() if f'"{runner}"' in text}
        self._is_graded = self._is_graded or "evaluators" in row
        self._is_judged = self._is_judged or '"llm_judge"' in text

    def beside(self) -> Beside:
        """The project file with the targets, and the programs that cases name."""
        project = self.project.project()
        names = [name for name in fields(project.get("targets", {})) if not _judges(name)]
        if self.output is None:
            return Beside({}, (Change("targets", _NO_FILE),) if names else ())
        written: dict[Path, bytes] = {
            self.output.parent / RUNNERS[kind]: (
                files(_PACKAGE).joinpath(RUNNERS[kind]).read_bytes()
            )
            for kind in sorted(self._runners)
        }
        changes: tuple[Change, ...] = ()
        if project:
            at, text, changes = self._project_file(project)
            if text is not None:
                written[at] = text
        if not self._is_graded:
            changes = (*changes, Change("grading", _UNGRADED))
        return Beside(written, changes, tuple(names), is_graded=self._is_graded)

    def _project_file(self, project: JsonObject) -> tuple[Path, bytes | None, tuple[Change, ...]]:
        """The project file with the targets; one that has targets of its own is left alone."""
        assert self.output is not None
        found = _project_path(self.workspace, self.output)
        at = found or self.output.parent / PROJECT_FILE
        header = _HEADER.format(source=self.path.name).encode()
        judges = b"" if "judges" in project or not self._is_judged else _JUDGES.encode()
        if found is None:
            return at, header + write_yaml(project) + judges, ()
        with self.workspace.open(found) as stream:
            existing = stream.read()
        stated = fields(parse_yaml(existing).value or {})
        taken = [name for name in project if name in stated]
        if not taken:
            before = existing if existing.endswith(b"\n") or not existing else existing + b"\n"
            return at, before + header + write_yaml(project) + judges, ()
        known = fields(stated.get("targets") or {})
        changes = tuple(
            Change(f"targets.{name}", f"{found} has targets of its own; add {json.dumps(entry)}")
            for name, entry in fields(project.get("targets", {})).items()
            if name not in known
        )
        return at, None, changes


def _judges(name: str) -> bool:
    return name.startswith("judge-")


def _project_path(workspace: Workspace, output: Path) -> Path | None:
    """The project file that a path belongs to: the nearest one upwards."""
    for folder in output.resolve().parents:
        if workspace.is_file(folder / PROJECT_FILE):
            return folder / PROJECT_FILE
    return None


def _config_path(workspace: Workspace, path: Path) -> Path:
    if workspace.is_file(path):
        return path
    for name in _NAMES:
        if workspace.is_file(path / name):
            return path / name
    raise NotFoundError(
        f"no such file: {path}; name a promptfoo configuration, or a folder with "
        "promptfooconfig.yaml"
    )


def _config(workspace: Workspace, path: Path) -> JsonObject:
    with workspace.open(path) as stream:
        data = stream.read(_MAX_CONFIG + 1)
    if len(data) > _MAX_CONFIG:
        raise UnreadableFileError(f"{path}: the file is larger than 64 MB")
    try:
        refuse_program(path.name)
        is_json = path.suffix.lower() == ".json"
        return checked_config(parse_json(without_bom(data)) if is_json else parse_yaml(data).value)
    except ParseError as wrong:
        line = f":{wrong.line}" if wrong.line else ""
        raise UnreadableFileError(f"{path}{line}: {wrong}") from None
