"""Joins use cases with the adapters they need; the only module that knows concrete classes."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject
from steelyard.ports import Clock, Workspace

if TYPE_CHECKING:
    from steelyard.checks.catalog import Catalog
    from steelyard.contracts.legal_eval.policies import Policies
    from steelyard.engine.redaction import Redactor
    from steelyard.model.judge import Judge
    from steelyard.model.question import QuestionRubric
    from steelyard.model.rubric import Check, Rubric
    from steelyard.settings import Settings
    from steelyard.store.project import Project
    from steelyard.store.pruned import PruneShelf
    from steelyard.store.runs import RunStore
    from steelyard.targets.making import Made
    from steelyard.usecases.convert import ConvertDoor
    from steelyard.usecases.evaluate import Run
    from steelyard.usecases.references import References
    from steelyard.usecases.run_ports import OpenLedger, RunDoor, TargetSpec

Answer = TypeVar("Answer")
STEELYARD_FOLDER = ".steelyard"
_COLLECTED_AT = (20_000, 20, 50)


def workspace() -> Workspace:
    """The user's files, seen from the current folder."""
    from steelyard.store.workspace import DiskWorkspace

    return DiskWorkspace(Path.cwd())


def load_eval_cases(path: str | Path) -> tuple[Case, ...]:
    """Read the eval cases of a .yaml, .yml or .jsonl file (contract 5).

    What spoils the file raises `UnreadableFileError`; a bad case is left out with a warning on
    the `steelyard` logger.
    """
    from steelyard.usecases.load_eval_cases import load_eval_cases as load

    return load(workspace(), Path(path))


def read_dataset(path: str | Path) -> tuple[Dataset, Sequence[Finding]]:
    """Read a dataset of any contract: its accepted cases, and everything that was found."""
    from steelyard.usecases.read_dataset import read_dataset as read

    return read(workspace(), Path(path))


def project(near: Path | None = None) -> Project:
    """The project of a file, or of the current folder."""
    from steelyard.store.project import find_project

    return find_project(near or Path.cwd(), Path.cwd())


def catalog(settings: Settings | None = None) -> Catalog:
    """The kinds of checks: built in, and from `steelyard.checks` entry points.

    They run programs only where the project allows it.
    """
    from steelyard.checks.catalog import BUILT_IN, Catalog
    from steelyard.targets.programs import LocalPrograms

    plugged = [point.load() for point in entry_points(group="steelyard.checks")]
    allowed = cast(JsonObject, settings.values.get("allow", {})) if settings else {}
    programs = LocalPrograms() if allowed.get("commands") else None
    return Catalog((*BUILT_IN, *plugged), programs=programs)


def policies() -> Policies:
    """The policies of legal_eval rows: built in, and from `steelyard.policies` entry points."""
    from steelyard.contracts.legal_eval.policies import built_in_policies

    plugged = [point.load() for point in entry_points(group="steelyard.policies")]
    return built_in_policies().with_plugins(plugged) if plugged else built_in_policies()


def run_store(root: Path) -> RunStore:
    """The runs of a project."""
    from steelyard.store.database import open_database
    from steelyard.store.runs import RunStore

    return RunStore(open_database(root / STEELYARD_FOLDER / "steelyard.db"))


def run_door(near: Path | None = None) -> RunDoor:
    """Everything that starting and resuming runs needs."""
    from steelyard.store.artifacts import ArtifactFolder, digest_of
    from steelyard.store.clock import SystemClock
    from steelyard.store.ids import new_run_id
    from steelyard.store.owners import is_alive, this_process
    from steelyard.store.worker_processes import start_worker
    from steelyard.targets.configured_secrets import configured_secrets
    from steelyard.targets.making import TargetMaker
    from steelyard.usecases.load_definition import load_carried_out
    from steelyard.usecases.run_ports import RunDoor

    found = project(near)
    clock = SystemClock()
    targets = cast(JsonObject, found.settings.values.get("targets", {}))
    maker = TargetMaker(found.root, targets, os.environ, clock)
    store = run_store(found.root)
    kinds = catalog(found.settings)
    known = references(found.root, kinds)
    return RunDoor(
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
        target=lambda name: _spec(name, maker.make(name)),
        candidates=_candidates,
        recorded=_recorded,
        conversation=_conversation,
        rubric=lambda name, strict: load_carried_out(
            known, _rooted(found.root, name), strict=strict
        ),
        catalog=kinds,
        policies=policies(),
        references=known,
        start_worker=lambda run_id, part, names: start_worker(
            found.root, run_id, store.lease(run_id).fence, part, names
        ),
        digest=lambda path: digest_of(path).sha256,
        environment={
            "python": platform.python_version(),
            "platform": platform.platform(),
            "implementation": sys.implementation.name,
        },
        harness={"name": "steelyard", "version": version("steelyard")},
        secrets=configured_secrets(targets, os.environ),
    )


def _rooted(root: Path, name: str) -> str:
    """A rubric's path as seen from the project's root; a reference as it is."""
    path = root / name
    return str(path) if path.suffix and path.is_file() else name


def _ledger(store: RunStore) -> Callable[[str, Redactor, Callable[[], str]], OpenLedger]:
    from steelyard.store.ledger import BatchLedger

    def open_ledger(run_id: str, redact: Redactor, now: Callable[[], str]) -> OpenLedger:
        return BatchLedger(store.engine, store.lease(run_id), redact, now)

    return open_ledger


def _spec(name: str, made: Made) -> TargetSpec:
    from steelyard.targets.making import LOCAL_CONCURRENCY
    from steelyard.targets.target_settings import DEFAULT_CONCURRENCY
    from steelyard.usecases.run_ports import TargetSpec

    settings = made.settings
    is_local = settings["provider"] in {"echo", "recorded", "conversation"}
    at_once = LOCAL_CONCURRENCY if is_local else DEFAULT_CONCURRENCY
    price = cast(JsonObject, settings.get("price", {}))
    prices = (float(cast(float, price.get(key, 0.0))) for key in ("input", "output"))
    sampling = ("temperature", "top_p", "max_new_tokens", "seed")
    return TargetSpec(
        name=name,
        target=made.target,
        max_concurrency=cast(int, settings.get("max_concurrency", at_once)),
        requests_per_minute=cast("float | None", settings.get("requests_per_minute")),
        tokens_per_minute=cast("float | None", settings.get("tokens_per_minute")),
        price=cast("tuple[float, float]", tuple(prices)) if price else None,
        secrets=made.secrets,
        model=cast("str | None", settings.get("model", settings.get("candidate"))),
        sampling={key: settings[key] for key in sampling if key in settings},
        response_source=made.response_source,
        is_cacheable=settings["provider"] in {"openai", "anthropic"},
        covers=made.covers,
    )


def _candidates(path: Path) -> list[str]:
    from steelyard.targets.response_file import ResponseFile

    with closing(ResponseFile(path)) as responses:
        return list(responses.candidates)


def _recorded(path: Path, candidate: str | None) -> TargetSpec:
    from steelyard.targets.making import Made
    from steelyard.targets.recorded import RecordedTarget
    from steelyard.targets.response_file import ResponseFile

    responses = ResponseFile(path)
    candidate = next(iter(responses.candidates)) if candidate is None else candidate
    name = candidate or "recorded"
    target = RecordedTarget(name, responses, candidate)
    settings: JsonObject = {"provider": "recorded", "candidate": candidate or None}
    made = Made(target, settings, covers=target.covers, response_source="prefilled")
    return _spec(name, made)


def _conversation() -> TargetSpec:
    from steelyard.targets.conversation import ConversationTarget
    from steelyard.targets.making import Made

    target = ConversationTarget()
    source = "part_of_conversation"
    made = Made(target, target.described(), covers=target.covers, response_source=source)
    return _spec(target.name, made)


def convert_door(*, force: bool, show: Callable[[bytes], None]) -> ConvertDoor:
    """What a conversion needs: files, frames and drafts."""
    from steelyard.store.drafts import FileDraft, ScratchDraft
    from steelyard.store.frames import frame_records
    from steelyard.usecases.convert import ConvertDoor

    return ConvertDoor(
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


def run_folder(name: str) -> Path:
    """The folder of a finished run: by id, prefix, `latest`, or the folder itself."""
    from steelyard.usecases.read_run import is_run_folder

    path = Path(name)
    if is_run_folder(path):
        return path
    root = project().root
    found = run_store(root).find(name)
    return root / STEELYARD_FOLDER / "runs" / found.run_id


def evaluate(
    dataset: Dataset | str | Path,
    *,
    target: str | Callable[..., Any],
    checks: Sequence[Check] = (),
    repeat: int = 1,
    max_concurrency: int = 16,
) -> Run:
    """Run a dataset against a function or a named target and grade with checks.

    The sync door over the async engine; results and artifacts are kept in the project.
    """
    from steelyard.targets.callables import PythonTarget
    from steelyard.targets.making import Made
    from steelyard.usecases.evaluate import evaluate as carry_out
    from steelyard.usecases.evaluate import plan_evaluation
    from steelyard.usecases.run_options import RunOptions, within

    given = dataset if isinstance(dataset, Dataset) else None
    path = Path(dataset.id if isinstance(dataset, Dataset) else dataset)
    door = run_door(None if given else path)
    if isinstance(target, str):
        spec = door.target(target)
    else:
        name = getattr(target, "__name__", "function")
        spec = _spec(name, Made(PythonTarget(name, target), {"provider": "python"}))
    options = RunOptions(
        dataset=path if given else within(door.root, path),
        target=spec.name,
        repeat=repeat,
        max_concurrency=max_concurrency,
    )
    with closing(door.repository):
        prepared = plan_evaluation(door, options, spec, checks, given)
        return run_async(lambda: carry_out(door, prepared))


def spare_collector() -> None:
    """Look for garbage less often, and never at what is loaded by now: a tenth of a run's CPU.

    Records leave no cycles behind, so that little waits to be found.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AT)


def run_async(made: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
    """The one place where the engine's event loop is started."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(made())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def load_rubric(name: str, version: str | None = None) -> Rubric | QuestionRubric:
    """A rubric of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.load_definition import load_rubric as load

    return load(references(project().root), _reference("rubric", name, version))


def load_judge(name: str, version: str | None = None) -> Judge:
    """A judge of the current project, by id and version; without one, the newest release."""
    from steelyard.usecases.load_definition import load_judge as load

    return load(references(project().root), _reference("judge", name, version))


def _reference(kind: str, name: str, version: str | None) -> str:
    return f"{kind}/{name}@{version}" if version else f"{kind}/{name}"


def references(root: Path, kinds: Catalog | None = None) -> References:
    """The rubrics and judges of a project, as they stand now; each file is read once."""
    from steelyard.store.clock import SystemClock
    from steelyard.store.definitions import DefinitionFolder
    from steelyard.usecases.references import References

    return References(DefinitionFolder(root, kinds or catalog()), SystemClock().now())


def references_of() -> Callable[[Path], References]:
    """The rubrics and judges that a file may refer to; each project is looked at once."""
    known: dict[Path, References] = {}

    def find(path: Path) -> References:
        root = project(path).root
        if root not in known:
            known[root] = references(root)
        return known[root]

    return find
