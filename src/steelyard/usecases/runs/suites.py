"""The runs of a command: from datasets, targets and candidates, or a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from steelyard.errors import ConfigError, InvalidError, argument
from steelyard.execution.run_options import RunOptions
from steelyard.formats.names import did_you_mean
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.published import dataset_name
from steelyard.model.upload import upload_of
from steelyard.project_file import CLUSTER_FIELDS, is_cluster
from steelyard.settings import SuiteSettings
from steelyard.usecases.datasets.project_paths import project_path
from steelyard.usecases.results.gates import Gates
from steelyard.usecases.runs.option_ranges import require_ranges
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prompt_variants import PromptVariant, variants


class SuiteChoice(FrozenStruct, frozen=True, kw_only=True):
    """What a user typed; a field that options of a run have as well holds for every run."""

    rubric: str | None = None
    judge: str | None = None
    model: str | None = None
    responses: Path | None = None
    from_conversation: bool = False
    repeat: int = 1
    limit: int | None = None
    where: str | None = None
    cluster: str | None = None
    max_concurrency: int | None = None
    budget_usd: float | None = None
    workers: int | None = None
    """Processes that share a run; None for as many as the project file says."""
    cache: bool = False
    strict: bool = False
    require_validated: Mapping[str, float] | None = None
    datasets: tuple[Path, ...] = ()
    suite: str | None = None
    targets: tuple[str, ...] = ()
    prompts: tuple[Path, ...] = ()
    fail_under: float | None = None
    fail_under_low: float | None = None
    corrected: bool = False
    allow_failures: str = "0"


def choose(ports: RunPorts, choice: SuiteChoice) -> tuple[RunOptions, ...]:
    """One run for every dataset and target (or candidate of a response file), as one group."""
    suite = _suite(ports, choice.suite)
    datasets = choice.datasets or suite_datasets(ports, choice.suite)
    if not datasets:
        raise InvalidError("name a dataset, or a suite that has one")
    if choice.prompts and (choice.responses or choice.from_conversation):
        raise InvalidError(f"{argument('prompt')} asks a target, and recorded responses are given")
    names: tuple[str | None, ...] = choice.targets or (suite.target,)
    targets = tuple(variants(names, choice.prompts))
    candidates: tuple[str | None, ...] = (None,)
    if choice.from_conversation:
        targets = (PromptVariant(None),)
    elif choice.responses:
        candidates = _candidates(ports, choice.responses, choice.targets)
        targets = (PromptVariant(None),)
    is_group = len(datasets) * len(targets) * len(candidates) > 1
    group_id = ports.new_run_id().replace("run_", "group_") if is_group else None
    shared = _shared(ports, choice, suite)
    runs = tuple(
        RunOptions(
            **shared,
            dataset=_dataset(ports, dataset),
            target=target.name,
            prompt=target.prompt,
            candidate=candidate,
            pass_threshold=suite.pass_threshold,
            group_id=group_id,
            gates=_gates(choice, suite),
        )
        for dataset in datasets
        for target in targets
        for candidate in candidates
    )
    for options in runs:
        require_ranges(options)
    return runs


def _shared(ports: RunPorts, choice: SuiteChoice, suite: SuiteSettings) -> dict[str, Any]:
    """Options of all runs: those given, else the suite's; paths as seen from the root."""
    names = {field.name for field in fields(choice)} & set(RunOptions.__struct_fields__)
    typed = {name: getattr(choice, name) for name in names}
    return {
        **typed,
        "rubric": stated_definition(ports, choice.rubric) or suite.rubric,
        "judge": stated_definition(ports, choice.judge) or suite.judge,
        # Stored when the run starts, so that `resume` uses the same value.
        "cluster": _cluster(choice.cluster) or ports.settings.cluster,
        "workers": choice.workers or ports.settings.engine.workers,
        "responses": project_path(ports.root, choice.responses) if choice.responses else None,
        "strict": choice.strict or suite.strict_validation,
        "require_validated": _required(choice, suite),
    }


def _required(choice: SuiteChoice, suite: SuiteSettings) -> Mapping[str, float] | None:
    """The validation required by the suite or the command line."""
    wanted = suite.require_validated
    if isinstance(wanted, bool):
        return {} if wanted else choice.require_validated
    return wanted


def _cluster(path: str | None) -> str | None:
    """The field that makes clusters; a setting was checked when the project file was read."""
    if path is not None and not is_cluster(path):
        raise InvalidError(
            f"{argument('cluster')} names {CLUSTER_FIELDS}; '{path}' is none of them"
        )
    return path


def _gates(choice: SuiteChoice, suite: SuiteSettings) -> JsonObject:
    fail_under = suite.fail_under if choice.fail_under is None else choice.fail_under
    gates = Gates(
        fail_under=fail_under,
        fail_under_low=choice.fail_under_low,
        corrected=choice.corrected,
        allow_failures=choice.allow_failures,
    )
    gates.require_use()
    return gates.stored()


def _suite(ports: RunPorts, name: str | None) -> SuiteSettings:
    if name is None:
        return SuiteSettings()
    suites = ports.settings.suites
    if name not in suites:
        hint = did_you_mean(name, suites)
        known = ", ".join(suites) or "none"
        near = f" ({hint})" if hint else ""
        raise ConfigError(f"unknown suite '{name}'{near}; suites of this project: {known}")
    return suites[name]


def suite_datasets(ports: RunPorts, suite: str | None) -> tuple[Path, ...]:
    """The dataset of a suite, as a file or a reference; nothing where it has none."""
    name = _suite(ports, suite).dataset
    if name is None:
        return ()
    path = ports.root / name
    return (Path(name) if dataset_name(name) and not path.is_file() else path,)


def _dataset(ports: RunPorts, path: Path) -> Path:
    """A dataset's path relative to the root; a reference or an upload as it is."""
    if upload_of(path):
        return path
    is_reference = dataset_name(path.as_posix()) and not path.is_file()
    return path if is_reference else project_path(ports.root, path)


def _candidates(ports: RunPorts, responses: Path, named: tuple[str, ...]) -> tuple[str, ...]:
    """The candidates named as targets; by default all of the file."""
    found = tuple(ports.candidates(responses))
    for name in named:
        if name not in found:
            known = ", ".join(found)
            raise InvalidError(f"{responses} has no candidate '{name}'; it has: {known}")
    return named or found


def stated_definition(ports: RunPorts, name: str | None) -> str | None:
    """A rubric's or judge's reference; a path relative to the project."""
    path = Path(name or "")
    return str(project_path(ports.root, path)) if path.suffix and path.is_file() else name
