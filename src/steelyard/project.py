"""A project, opened once: its root, its settings, and the adapters that its verbs need.

The only module that knows concrete classes. An adapter is made when it is first asked for, and a
project may be used from several threads.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, TypeVar, cast

from steelyard.plugins import installed_checks, installed_contracts, installed_policies
from steelyard.ports import Clock, Warn, Workspace, log_warning
from steelyard.store.installed import environment, offered
from steelyard.store.private_files import STEELYARD_FOLDER

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from steelyard.checks.catalog import Catalog
    from steelyard.engine.redaction.redactor import Redactor
    from steelyard.model.definition import Definition
    from steelyard.model.json_value import JsonObject
    from steelyard.model.statistics.corrected_rate import Correction
    from steelyard.settings import Settings
    from steelyard.store.audit_log import AuditStore
    from steelyard.store.project import ProjectFolder
    from steelyard.store.pruned import RetentionStore
    from steelyard.store.registry import FileRegistry
    from steelyard.store.runs.repository import RunStore
    from steelyard.store.validations import ValidationFolder
    from steelyard.usecases.convert.convert import ConvertPorts
    from steelyard.usecases.judges.validate_judge import ValidationPorts
    from steelyard.usecases.registry.fix_published import PublishedFiles
    from steelyard.usecases.registry.references import References
    from steelyard.usecases.registry.registry import RegistryPorts
    from steelyard.usecases.results.ports import ResultPorts
    from steelyard.usecases.results.records import Records
    from steelyard.usecases.review.ports import ReviewPorts
    from steelyard.usecases.runs.ports import RunPorts
    from steelyard.usecases.settings.saved_settings import SettingPorts

Made = TypeVar("Made")
_DATABASE = "steelyard.db"


def open_project(
    root: str | Path | None = None,
    *,
    near: Path | None = None,
    base: Path | None = None,
    warn: Warn = log_warning,
) -> Project:
    """Open the project at a root; without one, that of a file, or of the current folder.

    Relative paths of the user begin at the root that was named, or else at the base.
    """
    from steelyard.store.project import find_project, project_at

    if root is not None:
        folder = project_at(Path(root))
        return Project(folder, folder.root, warn)
    current = Path.cwd()
    return Project(find_project(near or current, current), current if base is None else base, warn)


class Project:
    """The runs, datasets, rubrics, judges and labels of one folder."""

    def __init__(
        self, folder: ProjectFolder, base: Path, warn: Warn = log_warning, home: Path | None = None
    ) -> None:
        self.root = folder.root
        self._home = home or folder.root  # where its data is; a queued run's root is elsewhere
        self.settings: Settings = folder.settings
        self.base = base  # where relative paths that a user names begin
        self.warn = warn
        self._made: dict[str, object] = {}
        self._lock = RLock()
        self._executing: set[str] = set()

    def close(self) -> None:
        """Close the database, if it was opened."""
        with self._lock:
            store = cast("RunStore | None", self._made.pop("store", None))
        if store:
            store.close()
            atexit.unregister(store.close)

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        """Where the project keeps its runs, its registry and its database."""
        return self._home / STEELYARD_FOLDER

    @property
    def workspace(self) -> Workspace:
        """The user's files, seen from the base."""
        from steelyard.store.workspace import DiskWorkspace

        return self._once("workspace", lambda: DiskWorkspace(self.base))

    @property
    def clock(self) -> Clock:
        """The time of this machine."""
        from steelyard.store.clock import SystemClock

        return SystemClock()

    @property
    def store(self) -> RunStore:
        """The runs of the project, in its database."""

        def opened() -> RunStore:
            from steelyard.store.runs.repository import RunStore

            store = RunStore(self._database())
            # The last to close the database folds its log in: a copy of the file alone is whole.
            atexit.register(store.close)
            return store

        return self._once("store", opened)

    @property
    def audit_log(self) -> AuditStore:
        """Who changed what in the project."""
        from steelyard.store.audit_log import AuditStore

        return AuditStore(lambda: self.store.engine)

    @property
    def catalog(self) -> Catalog:
        """The kinds of checks; they run programs only where the project allows it."""

        def made() -> Catalog:
            from steelyard.targets.processes.programs import LocalPrograms

            programs = None
            if self.settings.allow.commands:
                redact = self.redactor().text
                programs = LocalPrograms(self.root, self.settings.allow.folders, redact=redact)
            return installed_checks(programs)

        return self._once("catalog", made)

    @property
    def registry(self) -> FileRegistry:
        """What was published."""
        from steelyard.store.registry import project_registry

        return project_registry(self._home)

    @property
    def validations(self) -> ValidationFolder:
        """What is known of the project's judges."""
        from steelyard.store.validations import project_validations

        return project_validations(self._home)

    def redactor(self) -> Redactor:
        """What every run of the project writes through; it has counted nothing yet."""
        from steelyard.engine.redaction.redactor import Redactor
        from steelyard.targets.configured_secrets import configured_secrets
        from steelyard.usecases.runs.prepare import redaction_rules

        secrets = configured_secrets(self._configured().targets, os.environ)
        return Redactor.by(redaction_rules(self.settings), secrets)

    def references(self, warn: Warn | None = None) -> References:
        """The rubrics and judges of the project, as they stand now; each file is read once."""
        from steelyard.store.definitions import DefinitionFolder
        from steelyard.usecases.registry.references import References

        folder = DefinitionFolder(self.root, self.catalog, self.registry)
        validated = self.validations.last_validated
        return References(folder, self.clock.now(), validated, warn or self.warn)

    def published_files(self) -> PublishedFiles:
        """The rubrics of the project that may call themselves published."""
        from steelyard.usecases.registry.fix_published import PublishedFiles

        return PublishedFiles(self.registry, self.references(), self.clock, self.audit_log)

    def run_ports(self, warn: Warn | None = None) -> RunPorts:
        """What planning and executing runs needs; `warn` gets the warnings of these runs."""
        from steelyard.results.manifest import Harness
        from steelyard.store.artifacts import ArtifactFolder, digest_of
        from steelyard.store.ids import new_run_id, new_secret
        from steelyard.store.run_inputs import InputFolder
        from steelyard.store.runs.judgements import JudgementStore
        from steelyard.store.runs.owners import is_alive, this_process
        from steelyard.store.runs.row_register import RowRegister, run_ledger
        from steelyard.store.runs.row_writer import RowWriter
        from steelyard.store.worker_processes import WorkerProcesses
        from steelyard.store.workspace import DiskWorkspace
        from steelyard.targets import specs
        from steelyard.targets.configured_secrets import configured_secrets
        from steelyard.targets.making import TargetMaker
        from steelyard.targets.processes.program_files import module_files
        from steelyard.targets.providers import GROUP as TARGETS
        from steelyard.usecases.datasets.published_datasets import find_dataset
        from steelyard.usecases.registry.load_definition import at_root
        from steelyard.usecases.results.verify import require_sealed
        from steelyard.usecases.runs.ports import RunPorts
        from steelyard.usecases.runs.prepare import redaction_rules

        clock, store, settings = self.clock, self.store, self._configured()
        targets = settings.targets
        plugged = {point.name: point.load for point in offered(TARGETS)}
        rules = redaction_rules(settings)
        maker = TargetMaker(self.root, targets, os.environ, clock, plugged, rules=rules)
        return RunPorts(
            workspace=self.workspace,
            root=self.root,
            settings=settings,
            repository=store,
            clock=clock,
            new_run_id=lambda: new_run_id(int(clock.now().timestamp() * 1000)),
            owner=this_process(),
            is_alive=is_alive,
            ledger=partial(run_ledger, store),
            artifacts=lambda run_id: ArtifactFolder(self.folder / "runs" / run_id),
            target=lambda name: specs.spec(name, maker.make(name)),
            candidates=specs.candidates,
            recorded=specs.recorded,
            conversation=specs.conversation,
            catalog=self.catalog,
            policies=installed_policies(),
            contracts=installed_contracts(),
            references=self.references(warn),
            published=lambda name: find_dataset(self.registry, self.root, name),
            worker_pool=WorkerProcesses(self._home),
            register=lambda run_id: RowRegister(RowWriter(store.engine, store.lease(run_id))),
            on_cancel=store.on_cancel,
            digest=lambda path: digest_of(path).sha256,
            sources=lambda module: module_files(module, self.root),
            require_sealed=lambda folder: require_sealed(folder, digest_of),
            environment=environment(),
            harness=Harness(name="steelyard", version=version("steelyard")),
            judgements=JudgementStore(store.engine),
            inputs=InputFolder(self.folder),
            reading=self._reading,
            noting=partial(DiskWorkspace, self.base),
            new_secret=new_secret,
            secrets=configured_secrets(targets, os.environ),
            fix_published=lambda names, caller: self.published_files().fix(
                [at_root(self.root, name) for name in names], caller
            ),
            validations=self.validations,
            correct=self._correct,
            warn=warn or self.warn,
            executing=self._executing,
        )

    def _reading(self, folder: Path) -> RunPorts:
        """The ports of a folder that holds what a queued run reads, with the data of this one."""
        from steelyard.store.project import kept_project

        there = Project(kept_project(folder), folder, self.warn, self._home)
        there._made, there._executing = {"store": self.store}, self._executing
        return there.run_ports()

    def run_ports_with(self, judge: Definition | None) -> RunPorts:
        """The ports of runs in which a judge stands for all versions of itself; None: as is."""
        from steelyard.store.definitions import DefinitionFolder
        from steelyard.usecases.runs.verdict_changes import InsteadOf

        ports = self.run_ports()
        if judge is None:
            return ports
        folder = DefinitionFolder(self.root, self.catalog, self.registry)
        known = InsteadOf(folder, self.clock.now(), judge)
        return replace(ports, references=known)

    def result_ports(self) -> ResultPorts:
        """What finding and reading finished runs needs."""
        from steelyard.store.artifacts import digest_of
        from steelyard.usecases.results.ports import ResultPorts

        return ResultPorts(
            base=self.base,
            folder=self.folder,
            repository=lambda: self.store,
            records=self._records,
            digest=digest_of,
            judgements=self._judgements,
            warn=self.warn,
        )

    def registry_ports(self) -> RegistryPorts:
        """What publishing and looking up needs."""
        from steelyard.store.artifacts import digest_of
        from steelyard.usecases.registry.registry import RegistryPorts

        return RegistryPorts(
            workspace=self.workspace,
            root=self.root,
            settings=self.settings,
            registry=self.registry,
            references=self.references(),
            catalog=self.catalog,
            contracts=installed_contracts(),
            clock=self.clock,
            audit=self.audit_log,
            digest=lambda path: digest_of(path).sha256,
        )

    def review_ports(self) -> ReviewPorts:
        """What review needs."""
        from steelyard.store.annotations import AnnotationStore
        from steelyard.usecases.results.find_run import known_run
        from steelyard.usecases.review.ports import ReviewPorts

        return ReviewPorts(
            annotations=AnnotationStore(self.store.engine),
            references=self.references(),
            run_folder=self.run_folder,
            known_run=partial(known_run, self.result_ports()),
            redactor=self.redactor,
            clock=self.clock,
            fix_published=self.published_files().fix,
        )

    def validation_ports(self) -> ValidationPorts:
        """What comparing a judge with people needs."""
        from steelyard.store.drafts import replace_file
        from steelyard.usecases.judges.validate_judge import ValidationPorts

        return ValidationPorts(
            run=self.run_ports(),
            review=self.review_ports(),
            validations=self.validations,
            audit=self.audit_log,
            open=self.workspace.open,
            replace_file=replace_file,
        )

    def convert_ports(self, *, force: bool, show: Callable[[bytes], None]) -> ConvertPorts:
        """What a conversion needs: files, frames and drafts."""
        from steelyard.store.drafts import FileDraft, ScratchDraft
        from steelyard.store.frames import frame_records
        from steelyard.usecases.convert.convert import ConvertPorts

        return ConvertPorts(
            workspace=self.workspace,
            contracts=installed_contracts(),
            frames=frame_records,
            draft=lambda path: FileDraft(path, force=force),
            scratch=ScratchDraft,
            show=show,
        )

    def setting_ports(self) -> SettingPorts:
        """What saving suites and targets needs."""
        from steelyard.store.saved_settings import SavedSettingStore
        from steelyard.usecases.settings.saved_settings import SettingPorts

        saved = SavedSettingStore(self.store.engine)
        return SettingPorts(saved=saved, settings=self.settings, clock=self.clock)

    def retention_store(self) -> RetentionStore:
        """What `prune` clears: the database and the artifacts."""
        from steelyard.store.pruned import RetentionStore

        return RetentionStore(self._database(), self.folder)

    def run_folder(self, name: str) -> Path:
        """The folder of a finished run whose files are as they were sealed."""
        return self.run_folders([name])[0]

    def run_folders(self, names: Sequence[str]) -> list[Path]:
        """The folders of several finished runs whose files are as they were sealed."""
        from steelyard.usecases.results.find_run import run_folders

        return run_folders(self.result_ports(), names)

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return cast(Made, self._made[name])

    def _configured(self) -> Settings:
        """The settings, with the suites and targets that the store keeps."""
        from steelyard.usecases.settings.saved_settings import with_saved

        has_store = (self.folder / _DATABASE).is_file()
        return with_saved(self.setting_ports()) if has_store else self.settings

    def _database(self) -> Engine:
        from steelyard.store.database import open_database

        return open_database(self.folder / _DATABASE)

    def _records(self, run_id: str, title: str) -> Records:
        from steelyard.store.runs.stored_records import StoredRecords

        return StoredRecords(self.store, run_id, title)

    def _judgements(self, folder: Path, index: int) -> list[JsonObject]:
        from steelyard.store.runs.judgements import judgements_of

        return judgements_of(folder, index, self.warn)

    def _correct(self, folder: Path, claims: Mapping[str, str]) -> Correction | None:
        from steelyard.usecases.correction.correct_run import corrected_run

        return corrected_run(folder, self.validations.all(), self.clock.now(), claims=claims)
