"""Joins use cases with the adapters they need; the only module that knows concrete classes."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from steelyard import target_wiring
from steelyard.event_loop import run_async
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.ports import Clock, Workspace
from steelyard.store.installed import offered
from steelyard.store.private_files import STEELYARD_FOLDER

if TYPE_CHECKING:
    from steelyard.checks.catalog import Catalog
    from steelyard.contracts.legal_eval.policies import Policies
    from steelyard.engine.redaction import Redactor
    from steelyard.execution.ports import OpenLedger
    from steelyard.model.corrected_rate import Correction
    from steelyard.model.judge import Judge
    from steelyard.model.question import QuestionRubric
    from steelyard.model.rubric import Check, Rubric
    from steelyard.store.project import Project
    from steelyard.store.pruned import PruneShelf
    from steelyard.store.runs import RunStore
    from steelyard.store.worker_pipe import HolderPipe
    from steelyard.usecases.convert.convert import ConvertPorts
    from steelyard.usecases.registry.fix_published import PublishedFiles
    from steelyard.usecases.registry.references import References
    from steelyard.usecases.runs.evaluate import Run
    from steelyard.usecases.runs.ports import RunPorts


def workspace() -> Workspace:
    """The user's files, seen from the current folder."""
    from steelyard.store.workspace import DiskWorkspace

    return DiskWorkspace(Path.cwd())


def load_eval_cases(path: str | Path) -> tuple[Case, ...]:
    """Read the eval cases of a .yaml, .yml or .jsonl file (contract 5).

    What spoils the file raises `UnreadableFileError`; a bad case is left out with a warning on
    the `steelyard` logger.
    """
    from steelyard.usecases.datasets.load_eval_cases import load_eval_cases as load

    return load(workspace(), Path(path))


def read_dataset(path: str | Path) -> tuple[Dataset, Sequence[Finding]]:
    """Read a dataset of any contract: its accepted cases, and everything that was found."""
    from steelyard.usecases.datasets.read_dataset import read_dataset as read

    return read(workspace(), Path(path), policies())


def project(near: Path | None = None) -> Project:
    """The project of a file, or of the current folder."""
    from steelyard.store.project import find_project

    return find_project(near or Path.cwd(), Path.cwd())


def catalog(found: Project | None = None) -> Catalog:
    """The kinds of checks: built in, and from `steelyard.checks` entry points.

    They run programs only where the project allows it.
    """
    from steelyard.checks.catalog import BUILT_IN, Catalog
    from steelyard.targets.programs import LocalPrograms

    plugged = [point.load() for point in offered("steelyard.checks")]
    programs = None
    if found and cast(JsonObject, found.settings.values.get("allow", {})).get("commands"):
        redact = target_wiring.redactor(found.settings).text
        programs = LocalPrograms(found.root, found.settings.allowed_folders, redact=redact)
    return Catalog((*BUILT_IN, *plugged), programs=programs)


def policies() -> Policies:
    """The policies of legal_eval rows: built in, and from `steelyard.policies` entry points."""
    from steelyard.contracts.legal_eval.policies import built_in_policies

    plugged = [point.load() for point in offered("steelyard.policies")]
    return built_in_policies().with_plugins(plugged) if plugged else built_in_policies()


def run_store(root: Path) -> RunStore:
    """The runs of a project."""
    from steelyard.store.database import open_database
    from steelyard.store.runs import RunStore

    store = RunStore(open_database(root / STEELYARD_FOLDER / "steelyard.db"))
    # The last to close the database folds its log in, so that a copy of the file alone is whole.
    atexit.register(store.close)
    return store


def published_files(root: Path) -> PublishedFiles:
    """The rubrics of a project that may call themselves published."""
    from steelyard.store.registry import project_registry
    from steelyard.usecases.registry.fix_published import PublishedFiles

    return PublishedFiles(project_registry(root), references(root), system_clock())


def run_ports(near: Path | None = None) -> RunPorts:
    """Everything that starting and resuming runs needs."""
    from steelyard.store.artifacts import ArtifactFolder, digest_of
    from steelyard.store.clock import SystemClock
    from steelyard.store.ids import new_run_id, new_secret
    from steelyard.store.judgements import JudgementStore
    from steelyard.store.owners import is_alive, this_process
    from steelyard.store.registry import project_registry
    from steelyard.store.row_register import RowRegister
    from steelyard.store.row_writer import RowWriter
    from steelyard.store.validations import project_validations
    from steelyard.store.worker_processes import WorkerProcesses
    from steelyard.targets.configured_secrets import configured_secrets
    from steelyard.targets.making import TargetMaker
    from steelyard.targets.program_files import module_files
    from steelyard.targets.providers import GROUP as TARGETS
    from steelyard.usecases.datasets.published_datasets import find_dataset
    from steelyard.usecases.registry.load_definition import load_rubric
    from steelyard.usecases.runs.planning import redaction_rules
    from steelyard.usecases.runs.ports import RunPorts

    found = project(near)
    clock = SystemClock()
    targets = found.settings.targets
    plugged = {point.name: point.load for point in offered(TARGETS)}
    rules = redaction_rules(found.settings)
    maker = TargetMaker(found.root, targets, os.environ, clock, plugged, rules=rules)
    store = run_store(found.root)
    kinds = catalog(found)
    known = references(found.root, kinds)
    return RunPorts(
        workspace=workspace(),
        root=found.root,
        settings=found.settings,
        repository=store,
        clock=clock,
        new_run_id=lambda: new_run_id(int(clock.now().timestamp() * 1000)),
        owner=this_process(),
        is_alive=is_alive,
        ledger=_ledger(store),
        artifacts=lambda run_id: ArtifactFolder(found.root / STEELYARD_FOLDER / "runs" / run_id),
        target=lambda name: target_wiring.spec(name, maker.make(name)),
        candidates=target_wiring.candidates,
        recorded=target_wiring.recorded,
        conversation=target_wiring.conversation,
        rubric=lambda name, strict: load_rubric(known, rooted(found.root, name), strict=strict),
        catalog=kinds,
        policies=policies(),
        references=known,
        published=lambda name: find_dataset(project_registry(found.root), found.root, name),
        crew=WorkerProcesses(found.root),
        register=lambda run_id: RowRegister(RowWriter(store.engine, store.lease(run_id))),
        on_cancel=store.on_cancel,
        digest=lambda path: digest_of(path).sha256,
        sources=lambda module: module_files(module, found.root),
        require_sealed=require_sealed,
        environment={
            "python": platform.python_version(),
            "platform": platform.platform(),
            "implementation": sys.implementation.name,
        },
        harness={"name": "steelyard", "version": version("steelyard")},
        judgements=JudgementStore(store.engine),
        new_secret=new_secret,
        secrets=configured_secrets(targets, os.environ),
        fix_published=lambda names: published_files(found.root).fix(
            [rooted(found.root, name) for name in names]
        ),
        validations=project_validations(found.root),
        correct=_correct(found.root, clock),
    )


def part_ports(root: Path, holder: HolderPipe) -> RunPorts:
    """What a process needs that works on a part of a run: what it keeps, the holder keeps."""
    from steelyard.store.ledger import BatchLedger

    def open_ledger(_run_id: str, redact: Redactor, now: Callable[[], str]) -> OpenLedger:
        return BatchLedger(holder, redact, now)

    def on_cancel(_run_id: str, callback: Callable[[], None]) -> None:
        holder.on_cancel(callback)

    return replace(run_ports(root), ledger=open_ledger, on_cancel=on_cancel)


def rooted(root: Path, name: str) -> str:
    """A rubric's path as seen from the project's root; a reference as it is."""
    path = root / name
    return str(path) if path.suffix and path.is_file() else name


def _correct(root: Path, clock: Clock) -> Callable[[Path, Mapping[str, str]], Correction | None]:
    from steelyard.store.validations import project_validations

    def correct(folder: Path, claims: Mapping[str, str]) -> Correction | None:
        from steelyard.usecases.correction.correct_run import corrected_run

        return corrected_run(folder, project_validations(root).all(), clock.now(), claims=claims)

    return correct


def _ledger(store: RunStore) -> Callable[[str, Redactor, Callable[[], str]], OpenLedger]:
    from steelyard.store.ledger import BatchLedger
    from steelyard.store.row_writer import RowWriter

    def open_ledger(run_id: str, redact: Redactor, now: Callable[[], str]) -> OpenLedger:
        return BatchLedger(RowWriter(store.engine, store.lease(run_id)), redact, now)

    return open_ledger


def convert_ports(*, force: bool, show: Callable[[bytes], None]) -> ConvertPorts:
    """What a conversion needs: files, frames and drafts."""
    from steelyard.store.drafts import FileDraft, ScratchDraft
    from steelyard.store.frames import frame_records
    from steelyard.usecases.convert.convert import ConvertPorts

    return ConvertPorts(
        workspace=workspace(),
        frames=frame_records,
        draft=lambda path: FileDraft(path, force=force),
        scratch=ScratchDraft,
        show=show,
    )


def prune_shelf(root: Path) -> PruneShelf:
    """What `prune` clears: the database and the artifacts of a project."""
    from steelyard.store.database import open_database
    from steelyard.store.pruned import PruneShelf

    folder = root / STEELYARD_FOLDER
    return PruneShelf(open_database(folder / "steelyard.db"), folder)


def system_clock() -> Clock:
    """The time of this machine."""
    from steelyard.store.clock import SystemClock

    return SystemClock()


def require_sealed(folder: Path) -> None:
    """Refuse a run that was changed after it was sealed."""
    from steelyard.store.artifacts import digest_of
    from steelyard.usecases.results.verify import require_sealed as require

    require(folder, digest_of)


def evaluate(
    dataset: Dataset | str | Path,
    *,
    target: str | Callable[..., Any],
    checks: Sequence[Check] = (),
    repeat: int = 1,
    max_concurrency: int = 16,
) -> Run:
    """Run a dataset against a function or a named target and grade with checks.

    Synchronous, over the async engine; results and artifacts are kept in the project.
    """
    from steelyard.execution.run_options import RunOptions, within
    from steelyard.targets.callables import PythonTarget
    from steelyard.targets.making import Made
    from steelyard.usecases.runs.evaluate import evaluate as carry_out
    from steelyard.usecases.runs.evaluate import look_over, plan_evaluation

    look_over(dataset, target, checks, {"repeat": repeat, "max_concurrency": max_concurrency})
    given = dataset if isinstance(dataset, Dataset) else None
    path = Path(dataset.id if isinstance(dataset, Dataset) else dataset)
    ports = run_ports(None if given else path)
    if isinstance(target, str):
        spec = ports.target(target)
    else:
        name = getattr(target, "__name__", "function")
        made = PythonTarget(name, target)
        settings: JsonObject = {"provider": "python"}
        spec = target_wiring.spec(name, Made(made, settings, carries=made.carries))
    options = RunOptions(
        dataset=path if given else within(ports.root, path),
        target=spec.name,
        repeat=repeat,
        max_concurrency=max_concurrency,
    )
    with closing(ports.repository):
        prepared = plan_evaluation(ports, options, spec, checks, given)
        return run_async(lambda: carry_out(ports, prepared))


def load_rubric(name: str, version: str | None = None) -> Rubric | QuestionRubric:
    """A rubric of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.registry.load_definition import load_rubric as load

    return load(references(project().root), _reference("rubric", name, version))


def load_judge(name: str, version: str | None = None) -> Judge:
    """A judge of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.registry.load_definition import load_judge as load

    return load(references(project().root), _reference("judge", name, version))


def _reference(kind: str, name: str, version: str | None) -> str:
    return f"{kind}/{name}@{version}" if version else f"{kind}/{name}"


def references(root: Path, kinds: Catalog | None = None) -> References:
    """The rubrics and judges of a project, as they stand now; each file is read once."""
    from steelyard.store.clock import SystemClock
    from steelyard.store.definitions import DefinitionFolder
    from steelyard.store.registry import project_registry
    from steelyard.store.validations import project_validations
    from steelyard.usecases.registry.references import References

    folder = DefinitionFolder(root, kinds or catalog(), project_registry(root))
    return References(folder, SystemClock().now(), project_validations(root).last_validated)


def references_of() -> Callable[[Path], References]:
    """The rubrics and judges that a file may refer to; each project is looked at once."""
    known: dict[Path, References] = {}

    def find(path: Path) -> References:
        root = project(path).root
        if root not in known:
            known[root] = references(root)
        return known[root]

    return find
