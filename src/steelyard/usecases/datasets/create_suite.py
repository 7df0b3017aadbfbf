"""Save a suite after a look at what it names: its dataset, target, rubric and judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from steelyard.errors import ConflictError, SteelyardError
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.audit import Caller
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject
from steelyard.model.published import dataset_name
from steelyard.model.reference import ReferenceKind
from steelyard.settings import SuiteSettings
from steelyard.usecases.datasets.published_datasets import find_dataset
from steelyard.usecases.datasets.validate import ValidateOptions, validate
from steelyard.usecases.registry.load_definition import at_root
from steelyard.usecases.registry.publish import found_in, located
from steelyard.usecases.registry.registry import RegistryPorts
from steelyard.usecases.registry.resolution import finding_text
from steelyard.usecases.settings.saved_settings import SettingPorts, read_suite, save_suite

_MOST_FINDINGS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePorts:
    """What saving a suite with a look at its parts needs."""

    registry: RegistryPorts
    settings: SettingPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCreation:
    """What became of a suite."""

    suite: SuiteSettings
    findings: tuple[Finding, ...]
    is_saved: bool
    is_new: bool = False


def create_suite(
    ports: SuitePorts,
    name: str,
    row: JsonObject,
    *,
    strict: bool = False,
    is_update: bool = False,
    caller: Caller | None = None,
) -> SuiteCreation:
    """Save a suite; what is wrong with its parts is a warning.

    In strict mode, or where the suite itself asks for strict validation, it is an error, and
    nothing is saved. Another suite of the same name is only replaced by an update.
    """
    suite = read_suite(ports.settings, name, row)
    before = ports.settings.saved.all("suites").get(name)
    if before is not None and before != row and not is_update:
        raise ConflictError(f"there is a suite '{name}' with other settings; update it instead")
    found = tuple(_findings(ports.registry, suite))[:_MOST_FINDINGS]
    if strict or suite.strict_validation:
        findings = tuple(one.strict() for one in found)
        if any(one.is_error for one in findings):
            return SuiteCreation(suite=suite, findings=findings, is_saved=False)
    else:
        findings = tuple(replace(one, severity="warning") for one in found)
    if before != row:
        save_suite(ports.settings, name, row, caller=caller)
    return SuiteCreation(suite=suite, findings=findings, is_saved=True, is_new=before is None)


def _findings(ports: RegistryPorts, suite: SuiteSettings) -> Iterator[Finding]:
    """What is wrong with the parts of a suite, each under the name of the part."""
    targets = ports.settings.targets
    if suite.target is not None and suite.target not in (*targets, "echo"):
        hint = did_you_mean(suite.target, targets)
        wrong = error("dangling_reference", f"there is no target '{suite.target}'", path="target")
        yield replace(wrong, hint=hint)
    if suite.dataset is not None:
        yield from _of_dataset(ports, suite.dataset)
    if suite.rubric is not None:
        yield from _of_definition(ports, "rubric", suite.rubric)
    if suite.judge is not None:
        yield from _of_definition(ports, "judge", suite.judge)


def _of_dataset(ports: RegistryPorts, name: str) -> Iterator[Finding]:
    path = ports.root / name
    if dataset_name(name) and not path.is_file():
        try:
            found = find_dataset(ports.registry, ports.saved, ports.root, name)
        except SteelyardError as wrong:
            yield error("dangling_reference", str(wrong), path="dataset")
            return
        if found.published.status == "archived":
            yield error("dangling_reference", f"{name} is archived", path="dataset")
    elif not path.is_file():
        yield error("missing_file", f"no such file: {name}", path="dataset")
    else:
        report = validate(
            *(ports.workspace, [str(path)], ValidateOptions(kind="dataset"), ports.catalog),
            references=lambda _path: ports.references,
            contracts=ports.contracts,
        )
        for file in report.files:
            yield from (_at("dataset", Path(name), one) for one in file.findings)


def _at(part: str, file: Path, finding: Finding) -> Finding:
    line = f":{finding.line}" if finding.line else ""
    message = f"{file.as_posix()}{line}: {finding.where}{finding.message}"
    return replace(finding, path=part, message=message, line=None, index=None)


def _of_definition(ports: RegistryPorts, kind: ReferenceKind, name: str) -> Iterator[Finding]:
    try:
        found = located(ports, kind, at_root(ports.root, name))
    except SteelyardError as wrong:
        yield error("dangling_reference", str(wrong), path=kind)
        return
    if isinstance(found, Problem):
        yield Finding(severity=found.severity, code=found.code, message=found.message, path=kind)
        return
    findings = found_in(ports, found, found.content) if found.content else found.findings
    for finding in findings:
        message = finding_text(found, replace(finding, hint=None))
        yield replace(finding, path=kind, message=message, line=None)
