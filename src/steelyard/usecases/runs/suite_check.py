"""Look at the parts of a suite as a run of it would: dataset, target, rubric and judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.errors import RequestError, SteelyardError
from steelyard.formats.names import did_you_mean
from steelyard.formats.root_paths import text_from
from steelyard.model.definition import Content
from steelyard.model.finding import Finding, error, warning
from steelyard.model.judge import Judge
from steelyard.model.published import dataset_name
from steelyard.model.reference import ReferenceKind
from steelyard.ports import Workspace
from steelyard.settings import SuiteSettings
from steelyard.usecases.datasets.published_datasets import Staged, usable_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from steelyard.usecases.registry.load_definition import at_root, look_up_definition
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.runs.asked_judges import Judges
from steelyard.usecases.runs.judge_plan import without_target
from steelyard.usecases.runs.resolved_rubrics import resolve_rubric

_MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteParts:
    """What the parts of a suite are looked up in."""

    registry: RegistryPorts
    policies: Policies


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCheck:
    """What there is to say about the parts of a suite."""

    findings: tuple[Finding, ...]
    """Each under the name of its part: warnings, or errors in strict mode."""
    can_run: bool
    """Whether nothing that was found keeps a run of the suite from starting."""


def check_suite(ports: SuiteParts, suite: SuiteSettings, *, strict: bool = False) -> SuiteCheck:
    """What is wrong with the parts of a suite: warnings, or errors in strict mode."""
    strict = strict or suite.strict_validation
    look = _Look(ports, suite)
    look.at_all()
    found = [one.strict() if strict else one for one in look.findings]
    is_refused = strict and any(one.is_error for one in found)
    if not strict:
        found = [replace(one, severity="warning") for one in found]
    root = ports.registry.root
    found = [replace(one, message=text_from(root, one.message)) for one in found]
    return SuiteCheck(
        findings=tuple(found[:_MOST_FINDINGS]), can_run=not (look.is_stopped or is_refused)
    )


class _Look:
    """One look at the parts of a suite."""

    def __init__(self, ports: SuiteParts, suite: SuiteSettings) -> None:
        self._ports = ports.registry
        self._policies = ports.policies
        self._suite = suite
        self.findings: list[Finding] = []
        self.is_stopped = False
        """Whether a run cannot start, in any mode."""

    def at_all(self) -> None:
        suite = self._suite
        self._at_dataset(suite.dataset)
        if suite.target is not None:
            self._at_target(suite.target, "target")
        judge = self._at_definition("judge", suite.judge)
        rubric = self._at_definition("rubric", suite.rubric)
        if suite.judge is not None and judge is None:
            return
        if rubric is not None:
            self._at_asked(rubric)
        elif isinstance(judge, Judge) and suite.rubric is None:
            self._at_judge_target(judge, self._ports.settings.judge(judge.id).target)

    def _stop(self, finding: Finding) -> None:
        """Note what keeps a run from starting."""
        self.findings.append(finding)
        self.is_stopped = True

    def _at_dataset(self, name: str | None) -> None:
        if name is None:
            self.is_stopped = True
            message = "no dataset: a run of this suite has to name or post one"
            self.findings.append(warning("missing_required_field", message, path="dataset"))
            return
        path = self._ports.root / name
        if dataset_name(name) and not path.is_file():
            self._at_stored(name)
        elif not path.is_file():
            self._stop(error("missing_file", f"no such file: {name}", path="dataset"))
        else:
            self._at_records(name, path, self._ports.workspace)

    def _at_stored(self, name: str) -> None:
        """The records of a dataset of the registry or the store."""
        ports = self._ports
        try:
            found = usable_dataset(ports.registry, ports.saved, ports.root, name)
        except SteelyardError as wrong:
            self._stop(error("dangling_reference", str(wrong), path="dataset"))
        else:
            self._at_records(name, found.path, Staged(ports.workspace, found.files))

    def _at_records(self, name: str, path: Path, workspace: Workspace) -> None:
        ports = self._ports
        report = validate(
            *(workspace, [str(path)], ValidateOptions(kind="dataset"), ports.catalog),
            references=lambda _path: ports.references,
            contracts=ports.contracts,
        )
        for file in report.files:
            self.findings.extend(_at("dataset", Path(name), one) for one in file.findings)
        self.is_stopped |= not sum(file.accepted for file in report.files)

    def _at_target(self, name: str, part: str) -> None:
        targets = self._ports.settings.targets
        if name not in (*targets, "echo"):
            wrong = error("dangling_reference", f"there is no target '{name}'", path=part)
            self._stop(replace(wrong, hint=did_you_mean(name, targets)))

    def _at_definition(self, kind: ReferenceKind, name: str | None) -> Content | None:
        """The rubric or judge of a name, if a run can use it."""
        if name is None:
            return None
        ports = self._ports
        try:
            found = look_up_definition(ports.references, at_root(ports.root, name), kind)
        except SteelyardError as wrong:
            self._stop(error("dangling_reference", str(wrong), path=kind))
            return None
        for finding in found.findings:
            self.findings.append(replace(finding, path=kind))
            self.is_stopped |= finding.is_error
        is_usable = not any(finding.is_error for finding in found.findings)
        return found.content if is_usable else None

    def _at_asked(self, content: Content) -> None:
        """The targets of the judges that a rubric asks."""
        ports, suite = self._ports, self._suite
        judges = Judges(
            catalog=ports.catalog,
            policies=self._policies,
            references=ports.references,
            settings=ports.settings,
            replaced=at_root(ports.root, suite.judge) if suite.judge else None,
        )
        assert not isinstance(content, Judge)
        try:
            rubric = resolve_rubric(content, judges)
        except RequestError as wrong:
            self._stop(error("dangling_reference", str(wrong), path="rubric"))
            return
        asked = {(one.judge.name, one.target): one for one in judges.asked_by(rubric)}
        for judge, target in asked.values():
            if target is None:
                message = without_target(rubric.name, judge)
                self._stop(error("missing_target", message, path="rubric"))
            else:
                self._at_target(target, "rubric")

    def _at_judge_target(self, judge: Judge, target: str | None) -> None:
        if target is None:
            self._stop(error("missing_target", without_target(None, judge), path="judge"))
        else:
            self._at_target(target, "judge")


def _at(part: str, file: Path, finding: Finding) -> Finding:
    line = f":{finding.line}" if finding.line else ""
    message = f"{file.as_posix()}{line}: {finding.where}{finding.message}"
    return replace(finding, path=part, message=message, line=None, index=None)
