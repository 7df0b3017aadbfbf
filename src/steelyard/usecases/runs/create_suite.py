"""Save a suite after a look at what it names: its dataset, target, rubric and judge."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.model.audit import Caller
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.settings import SuiteSettings
from steelyard.usecases.runs.suite_check import SuiteParts, check_suite
from steelyard.usecases.settings.saved_settings import SettingPorts, read_suite, save_suite
from steelyard.usecases.settings.shown_settings import sent_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePorts:
    """What saving a suite with a look at its parts needs."""

    parts: SuiteParts
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
    nothing is saved. Another suite of the same name is only replaced by an update. The row may
    be what was shown of the suite.
    """
    row = sent_settings(row, None)
    suite = read_suite(ports.settings, name, row)
    findings = check_suite(ports.parts, suite, strict=strict).findings
    if any(one.is_error for one in findings):
        return SuiteCreation(suite=suite, findings=findings, is_saved=False)
    is_new = save_suite(ports.settings, name, row, is_update=is_update, caller=caller)
    return SuiteCreation(suite=suite, findings=findings, is_saved=True, is_new=is_new)
