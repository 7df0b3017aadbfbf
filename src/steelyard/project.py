"""A project, opened once, by several threads if need be: its root and the ports of its verbs.

With its adapters the only module that knows concrete classes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.plugins import installed_contracts, installed_policies
from steelyard.ports import Warn, log_warning
from steelyard.project_adapters import ProjectAdapters
from steelyard.settings import RAY, EngineSettings
from steelyard.store.installed import environment, offered

if TYPE_CHECKING:
    from steelyard.model.definition import Definition
    from steelyard.model.json_value import JsonObject
    from steelyard.model.statistics.corrected_rate import Correction
    from steelyard.results.stored_run import StoredRun
    from steelyard.store.pruned import RetentionStore
    from steelyard.usecases.convert.conversion_request import ConvertPorts
    from steelyard.usecases.correction.current_rates import CurrentRates
    from steelyard.usecases.judges.validate_judge import ValidationPorts
    from steelyard.usecases.registry.registry import RegistryPorts
    from steelyard.usecases.results.ports import ResultPorts
    from steelyard.usecases.results.records import Records
    from steelyard.usecases.results.verify import Verification
    from steelyard.usecases.review.ports import ReviewPorts
    from steelyard.usecases.review.queues.ports import QueuePorts
    from steelyard.usecases.runs.create_suite import SuitePorts
    from steelyard.usecases.runs.ownership import Standing
    from steelyard.usecases.runs.ports import RunPorts
    from steelyard.usecases.traces.ports import TracePorts


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


class Project(ProjectAdapters):
    """The runs, datasets, rubrics, judges and labels of one folder."""

    def run_ports(self, warn: Warn | None = None) -> RunPorts:
        """What planning and executing runs needs; `warn` gets the warnings of these runs."""
        from steelyard.results.manifest import Harness
        from steelyard.store.artifacts import digest_of
        from steelyard.store.ids import new_run_id, new_secret
        from steelyard.store.owners import is_alive, this_process
        from steelyard.store.runs.judgements import JudgementStore
        from steelyard.store.runs.row_register import RowRegister, run_ledger
        from steelyard.store.runs.row_writer import RowWriter
        from steelyard.store.spool.upload_workspace import UploadWorkspace
        from steelyard.store.worker_processes import WorkerProcesses
        from steelyard.store.workspace import DiskWorkspace
        from steelyard.targets import specs
        from steelyard.targets.making import TargetMaker
        from steelyard.targets.processes.program_files import module_files
        from steelyard.targets.providers import GROUP as TARGETS
        from steelyard.usecases.datasets.published_datasets import usable_dataset
        from steelyard.usecases.registry.load_definition import at_root
        from steelyard.usecases.results.verify import require_sealed
        from steelyard.usecases.runs.ports import RunPorts
        from steelyard.usecases.runs.prepare import redaction_rules

        clock, store, settings = self.clock, self.store, self._configured()
        sealed, targets = self.sealed_runs, settings.targets
        plugged = {point.name: point.load for point in offered(TARGETS)}
        rules, spool = redaction_rules(settings), self.spool
        workspace = UploadWorkspace(self.workspace, spool)
        maker = TargetMaker(self.root, targets, os.environ, clock, plugged, rules=rules)
        return RunPorts(
            workspace=workspace,
            root=self.root,
            settings=settings,
            repository=store,
            clock=clock,
            new_run_id=lambda: new_run_id(int(clock.now().timestamp() * 1000)),
            owner=this_process(),
            is_alive=is_alive,
            ledger=partial(run_ledger, store),
            artifacts=sealed.artifacts,
            require_artifacts=sealed.require_ready,
            run_folder=sealed.fetch,
            target=lambda name: self.with_supervision(specs.spec(name, maker.make(name))),
            target_of_model=lambda name, model: specs.spec(name, maker.make(name, model)),
            candidates=specs.candidates,
            recorded=specs.recorded,
            conversation=specs.conversation,
            catalog=self.catalog,
            policies=installed_policies(),
            contracts=installed_contracts(),
            references=self.references(warn),
            published=partial(usable_dataset, self.registry, self.saved_definitions, self.root),
            worker_pool=WorkerProcesses(self._home),
            register=lambda run_id: RowRegister(RowWriter(store.engine, store.lease(run_id))),
            on_cancel=store.on_cancel,
            digest=workspace.sha256,
            sources=lambda module: module_files(module, self.root),
            require_sealed=lambda folder: require_sealed(sealed.brought(folder), digest_of),
            environment=environment(),
            harness=Harness(name="steelyard", version=version("steelyard")),
            judgements=JudgementStore(store.engine),
            inputs=self.inputs,
            delete_upload=spool.delete,
            reading=self._reading,
            noting=lambda reads: UploadWorkspace(DiskWorkspace(self.base, reads), spool),
            new_secret=new_secret,
            secrets=self.secrets_of(settings),
            fix_published=lambda names, caller: self.published_files().fix(
                [at_root(self.root, name) for name in names], caller
            ),
            validations=self.validations,
            correct=self._correct,
            warn=warn or self.warn,
            executing=self._executing,
        )

    def executing_ports(
        self, engine: EngineSettings | None = None, reads: dict[Path, Path] | None = None
    ) -> RunPorts:
        """What executing runs by an engine needs; `reads` gets the files that are read."""
        ports, engine = self.run_ports(), engine or self.settings.engine
        reads = {} if reads is None and engine.name == RAY else reads
        if reads is None:
            return ports
        ports = replace(ports, workspace=ports.noting(reads))
        if engine.name != RAY:
            return ports
        from steelyard.store.ray_cluster.workers import RayWorkers, ShownFiles

        shown = ShownFiles(reads, self.settings.allow.folders)
        pool = RayWorkers(self._home, lambda: self.store, self.spool, engine, shown)
        return replace(ports, worker_pool=pool)

    def _reading(self, folder: Path) -> RunPorts:
        """The ports of a folder that holds what a queued run reads, with the data of this one."""
        from steelyard.store.project import kept_project

        kept, known = kept_project(folder), self._configured().targets
        targets = {
            name: entry.with_header_values(known.get(name))
            for name, entry in kept.settings.targets.items()
        }
        kept = replace(kept, settings=replace(kept.settings, targets=targets))
        there = Project(kept, folder, self.warn, self._home)
        for name in ("store", "sealed_runs", "shared_files"):
            there._made[name] = getattr(self, name)
        there._executing = self._executing
        return there.run_ports()

    def run_ports_with(self, judge: Definition | None) -> RunPorts:
        """The ports of runs in which a judge stands for all versions of itself; None: as is."""
        from steelyard.usecases.runs.verdict_changes import InsteadOf

        ports = self.run_ports()
        if judge is None:
            return ports
        known = InsteadOf(self._definitions(), self.clock.now(), judge)
        return replace(ports, references=known)

    def result_ports(self) -> ResultPorts:
        """What finding and reading finished runs needs."""
        from steelyard.store.artifacts import digest_of
        from steelyard.store.known_digests import KnownDigests
        from steelyard.usecases.results.kept_results import KeptResults
        from steelyard.usecases.results.ports import ResultPorts

        return ResultPorts(
            base=self.base,
            folder=self.folder,
            has_data=self.has_data,
            repository=lambda: self.store,
            records=self._records,
            digest=digest_of,
            known_digest=self._once("digests", KnownDigests).of,
            judgements=self._judgements,
            fetch=self.sealed_runs.fetch,
            warn=self.warn,
            kept=self._once("kept_results", KeptResults),
        )

    def registry_ports(self) -> RegistryPorts:
        """What publishing and looking up needs."""
        from steelyard.store.artifacts import digest_of
        from steelyard.usecases.registry.registry import RegistryPorts

        return RegistryPorts(
            workspace=self.workspace,
            root=self.root,
            settings=self._configured(),
            registry=self.registry,
            saved=self.saved_definitions,
            references=self.references(),
            catalog=self.catalog,
            contracts=installed_contracts(),
            clock=self.clock,
            audit=self.audit_log,
            digest=lambda path: digest_of(path).sha256,
        )

    def suite_ports(self) -> SuitePorts:
        """What saving a suite with a look at its parts needs."""
        from steelyard.usecases.runs.create_suite import SuitePorts
        from steelyard.usecases.runs.suite_check import SuiteParts

        parts = SuiteParts(registry=self.registry_ports(), policies=installed_policies())
        return SuitePorts(parts=parts, settings=self.setting_ports())

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

    def trace_ports(self) -> TracePorts:
        """What trace sets need."""
        from steelyard.store.drafts import PrivateDraft, ScratchDraft
        from steelyard.store.file_names import remove_what_can_be
        from steelyard.store.traces.trace_store import TraceStore
        from steelyard.usecases.traces.ports import TracePorts

        return TracePorts(
            traces=TraceStore(lambda: self.store.engine),
            redactor=self.redactor,
            clock=self.clock,
            folder=self.folder / "trace-sets",
            draft=PrivateDraft,
            scratch=ScratchDraft,
            remove_folder=remove_what_can_be,
        )

    def queue_ports(self) -> QueuePorts:
        """What review queues need."""
        from steelyard.store.ids import new_item_id, new_queue_id, new_token
        from steelyard.store.review.assignments import AssignmentStore
        from steelyard.store.review.decisions import DecisionStore
        from steelyard.store.review.progress import ReviewProgress
        from steelyard.store.review.queues import QueueStore
        from steelyard.store.review.results_seen import SeenResults
        from steelyard.usecases.review.queues.ports import QueuePorts
        from steelyard.usecases.review.queues.run_traces import open_source

        clock, engine, review = self.clock, self.store.engine, self.review_ports()

        def now_ms() -> int:
            return int(clock.now().timestamp() * 1000)

        return QueuePorts(
            review=review,
            queues=QueueStore(engine, lambda: new_item_id(now_ms())),
            assignments=AssignmentStore(engine, new_token),
            progress=ReviewProgress(engine),
            decisions=DecisionStore(engine),
            seen=SeenResults(engine),
            source=partial(open_source, review, self.result_ports()),
            new_queue_id=lambda: new_queue_id(now_ms()),
            clock=clock,
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
        from steelyard.usecases.convert.conversion_request import ConvertPorts

        return ConvertPorts(
            workspace=self.workspace,
            contracts=installed_contracts(),
            frames=frame_records,
            draft=lambda path: FileDraft(path, force=force),
            replacing=lambda path: FileDraft(path, force=True),
            scratch=ScratchDraft,
            show=show,
        )

    def table_ports(self) -> ConvertPorts:
        """What reading a table as a dataset needs; its cases are data of the project."""
        from steelyard.store.drafts import PrivateDraft

        return replace(self.convert_ports(force=True, show=lambda _: None), draft=PrivateDraft)

    def retention_store(self) -> RetentionStore:
        """What `prune` clears: the database and the artifacts."""
        from steelyard.store.pruned import RetentionStore

        return RetentionStore(self._database(), self.folder, self.sealed_runs, self.inputs)

    def standing(self, run: StoredRun) -> Standing:
        """Where a run stands: at work, stopped, or being cancelled."""
        from steelyard.usecases.runs.ownership import standing_of

        def has_upload(upload_id: str) -> bool:
            return self.spool.has(upload_id)  # loaded only where a run has an upload

        return standing_of(run, self.is_alive, has_upload, self.inputs.is_lost)

    def pruned_names(self, run_id: str) -> list[str]:
        """The names of the files of a run that were pruned."""
        from steelyard.usecases.results.pruned_files import PrunedNames

        return self._once("pruned_names", lambda: PrunedNames(self.folder)).of(run_id)

    def run_folder(self, name: str) -> Path:
        """The folder of a finished run whose files are as they were sealed."""
        return self.run_folders([name])[0]

    def run_folders(self, names: Sequence[str]) -> list[Path]:
        """The folders of several finished runs whose files are as they were sealed."""
        from steelyard.usecases.results.find_run import run_folders

        return run_folders(self.result_ports(), names)

    def verification(self, name: str) -> Verification:
        """The state of every file of a finished run, where it is sealed."""
        from steelyard.store.sealed_runs import best_copy
        from steelyard.usecases.results.find_run import find_run_folder
        from steelyard.usecases.results.verify import verify

        ports = replace(self.result_ports(), fetch=partial(best_copy, self.sealed_runs))
        folder = find_run_folder(ports, name)
        with self.sealed_runs.as_sealed(folder) as (place, digest):
            return replace(verify(place, digest), folder=str(folder))

    def current_rates(self) -> CurrentRates:
        """The corrected rates of listed runs, each computed once."""
        from steelyard.usecases.correction.current_rates import CurrentRates

        fetch, clock = self.sealed_runs.fetch, self.clock
        return self._once(
            "current_rates", lambda: CurrentRates(fetch, lambda: self.validations, clock.now)
        )

    def _records(self, run_id: str, title: str) -> Records:
        from steelyard.store.runs.stored_records import StoredRecords

        return StoredRecords(self.store, run_id, title)

    def _judgements(self, folder: Path, index: int) -> list[JsonObject]:
        from steelyard.store.runs.judgements import JudgementStore, judgements_in_file

        run = folder.resolve()
        if self.server_address and run.parent == (self.folder / "runs").resolve():
            return list(JudgementStore(self.store.engine).of_record(run.name, index))
        return judgements_in_file(folder, index, self.warn)

    def _correct(self, folder: Path, claims: Mapping[str, str]) -> Correction | None:
        from steelyard.usecases.correction.correct_run import corrected_run

        return corrected_run(folder, self.validations.all(), self.clock.now(), claims=claims)
