"""The adapters of a project: its files, database, registry, checks and redaction.

An adapter is made when it is first asked for, and may be used from several threads.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Self, TypeVar, cast

from steelyard.plugins import installed_checks
from steelyard.ports import Clock, Warn, Workspace, log_warning
from steelyard.settings import SQLITE
from steelyard.store.private_files import STEELYARD_FOLDER, make_private_folder

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from steelyard.checks.catalog import Catalog
    from steelyard.engine.redaction.redactor import Redactor
    from steelyard.execution.ports import TargetSpec
    from steelyard.settings import Settings
    from steelyard.store.audit_log import AuditStore
    from steelyard.store.buckets.bucket_runs import BucketRuns
    from steelyard.store.buckets.shared_files import SharedFiles
    from steelyard.store.condition import StoreCondition
    from steelyard.store.definitions import DefinitionFolder
    from steelyard.store.project import ProjectFolder
    from steelyard.store.registry import FileRegistry
    from steelyard.store.runs.idempotency import IdempotencyStore
    from steelyard.store.runs.repository import RunStore
    from steelyard.store.runs.run_queue import RunQueue
    from steelyard.store.saved_definitions import SavedDefinitionStore
    from steelyard.store.sealed_runs import SealedRuns
    from steelyard.store.spool.run_inputs import InputFolder
    from steelyard.store.spool.uploads import Spool
    from steelyard.store.validations import ValidationFolder
    from steelyard.targets.openid_issuer import OpenIdIssuer
    from steelyard.usecases.access.ports import AccessPorts
    from steelyard.usecases.operations.back_up import OperationPorts, RestorePorts
    from steelyard.usecases.registry.fix_published import PublishedFiles
    from steelyard.usecases.registry.references import References
    from steelyard.usecases.settings.saved_settings import SettingPorts

Made = TypeVar("Made")
_DATABASE = "steelyard.db"


class ProjectAdapters:
    """The parts that the ports of a project are built from."""

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

    def __enter__(self) -> Self:
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
    def sealed_runs(self) -> SealedRuns:
        """Where finished runs are: in the project's folder, or in a bucket with copies there."""
        from steelyard.store.sealed_runs import DiskRuns

        def made() -> SealedRuns:
            runs, address = self.folder / "runs", self.settings.artifacts
            if address is None:
                return DiskRuns(runs)
            from steelyard.store.buckets.bucket import Bucket
            from steelyard.store.buckets.bucket_runs import BucketRuns

            return BucketRuns(runs, Bucket(address, os.environ))

        return self._once("sealed_runs", made)

    @property
    def condition(self) -> StoreCondition:
        """The state of the store, for whoever operates it."""
        from steelyard.store.condition import StoreCondition

        return StoreCondition(self.store.engine, self.folder)

    @staticmethod
    def is_alive(owner: str) -> bool:
        """Whether the process that owns a run still runs on this host."""
        from steelyard.store.owners import is_alive

        return is_alive(owner)

    @property
    def run_queue(self) -> RunQueue:
        """The runs that wait for a worker."""
        from steelyard.store.runs.run_queue import RunQueue

        return RunQueue(self.store.engine)

    @property
    def shared_files(self) -> SharedFiles | None:
        """What hosts share that have one database and one bucket; None: a folder has it all."""

        def made() -> SharedFiles | None:
            if self.settings.artifacts is None or self.server_address is None:
                return None
            from steelyard.store.buckets.shared_files import SharedFiles

            runs = cast("BucketRuns", self.sealed_runs)
            return SharedFiles(self.folder, runs, self._new_upload_id)

        return self._once("shared_files", made)

    @property
    def spool(self) -> Spool:
        """The posted datasets whose runs have not ended."""
        from steelyard.store.spool.spool_key import spool_key
        from steelyard.store.spool.uploads import Spool

        if shared := self.shared_files:
            return shared.spool
        return Spool(self.folder / "spool", lambda: spool_key(self.folder), self._new_upload_id)

    @property
    def inputs(self) -> InputFolder:
        """What queued runs read."""
        from steelyard.store.spool.run_inputs import InputFolder

        return shared.inputs if (shared := self.shared_files) else InputFolder(self.folder)

    @property
    def idempotency(self) -> IdempotencyStore:
        """The requests that may be sent again."""
        from steelyard.store.owners import is_alive, this_process
        from steelyard.store.runs.idempotency import IdempotencyStore

        return IdempotencyStore(self.store.engine, this_process(), is_alive)

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
                self._warn_of_programs()
                redact = self.redactor().text
                programs = LocalPrograms(self.root, self.settings.allow.folders, redact=redact)
            return installed_checks(programs)

        return self._once("catalog", made)

    def with_supervision(self, spec: TargetSpec) -> TargetSpec:
        """A target; warn where it runs programs that cannot be supervised."""
        if spec.described().get("supervised") is False:
            self._warn_of_programs()
        return spec

    def _warn_of_programs(self) -> None:
        from steelyard.targets.processes.unsupervised import IS_NEEDED, WARNING

        if IS_NEEDED:
            self._once("programs", lambda: self.warn(WARNING))

    @property
    def registry(self) -> FileRegistry:
        """What was published."""
        from steelyard.store.registry import project_registry

        return shared.registry if (shared := self.shared_files) else project_registry(self._home)

    @property
    def validations(self) -> ValidationFolder:
        """What is known of the project's judges."""
        from steelyard.store.validations import project_validations

        shared = self.shared_files
        return shared.validations if shared else project_validations(self._home)

    def redactor(self) -> Redactor:
        """What every run of the project writes through; it has counted nothing yet."""
        from steelyard.engine.redaction.redactor import Redactor
        from steelyard.usecases.runs.prepare import redaction_rules

        return Redactor.by(redaction_rules(self.settings), self.secrets())

    def secrets(self) -> tuple[str, ...]:
        """The values of secrets that the settings of the project name."""
        return self.secrets_of(self._configured())

    def secrets_of(self, settings: Settings) -> tuple[str, ...]:
        """The values of secrets that these settings name, and the password of the store."""
        from steelyard.store.server_address import address_secrets
        from steelyard.targets.configured_secrets import configured_secrets

        address = address_secrets(self.settings.store, os.environ)
        return (*configured_secrets(settings, os.environ), *address)

    def references(self, warn: Warn | None = None) -> References:
        """The rubrics and judges of the project, as they stand now; each file is read once."""
        from steelyard.usecases.registry.references import References

        validated = self.validations.last_validated
        return References(self._definitions(), self.clock.now(), validated, warn or self.warn)

    def _definitions(self) -> DefinitionFolder:
        """The files of the project, with what its store keeps."""
        from steelyard.store.definitions import DefinitionFolder

        saved = self.saved_definitions if self._has_store() else None
        return DefinitionFolder(self.root, self.catalog, self.registry, saved)

    @property
    def saved_definitions(self) -> SavedDefinitionStore:
        """What was created over HTTP."""
        from steelyard.store.saved_definitions import SavedDefinitionStore

        return SavedDefinitionStore(lambda: self.store.engine, is_there=self._has_store)

    @property
    def server_address(self) -> str | None:
        """The address of the server that holds the store; None for a file of the project."""
        from steelyard.store.server_address import server_address

        return server_address(self.settings.store, os.environ)

    def has_data(self) -> bool:
        """Whether there can be anything: what a server holds needs no folder on this host."""
        return self.server_address is not None or self.folder.is_dir()

    def _has_store(self) -> bool:
        """Whether there is one: on a server it is made when it is first looked for."""
        return self.server_address is not None or (self.folder / _DATABASE).is_file()

    def published_files(self) -> PublishedFiles:
        """The rubrics of the project that may call themselves published."""
        from steelyard.usecases.registry.fix_published import PublishedFiles

        return PublishedFiles(self.registry, self.references(), self.clock, self.audit_log)

    def setting_ports(self) -> SettingPorts:
        """What saving suites and targets needs."""
        from steelyard.store.saved_settings import SavedSettingStore
        from steelyard.targets.public_addresses import addresses_of
        from steelyard.usecases.settings.saved_settings import SettingPorts

        def warn(message: str) -> None:
            self._once(f"warned: {message}", lambda: self.warn(message))

        return SettingPorts(
            saved=SavedSettingStore(self.store.engine, warn),
            warn=warn,
            settings=self.settings,
            root=self.root,
            clock=self.clock,
            addresses_of=addresses_of,
        )

    def access_ports(self) -> AccessPorts:
        """What users, keys and sessions need."""
        from steelyard.store.access.api_keys import KeyStore
        from steelyard.store.access.passwords import Argon2Passwords
        from steelyard.store.access.sessions import SessionStore
        from steelyard.store.access.users import UserStore
        from steelyard.store.ids import new_token
        from steelyard.usecases.access.ports import AccessPorts

        return AccessPorts(
            users=UserStore(lambda: self.store.engine),
            keys=KeyStore(lambda: self.store.engine),
            sessions=SessionStore(lambda: self.store.engine),
            passwords=self._once("passwords", Argon2Passwords),
            new_secret=new_token,
            clock=self.clock,
        )

    def oidc_issuer(self) -> OpenIdIssuer | None:
        """The OpenID Connect issuer of the project file; None where it names none."""

        def made() -> OpenIdIssuer | None:
            if self.settings.oidc.issuer is None:
                return None
            from steelyard.targets.openid_issuer import open_issuer

            return open_issuer(self.settings.oidc, os.environ)

        return self._once("oidc", made)

    def operation_ports(self) -> OperationPorts:
        """What back-ups of the project need."""
        from importlib.metadata import version

        from steelyard.store.backups.back_up import BackupWriter, refuse_server
        from steelyard.usecases.operations.back_up import OperationPorts

        if self.server_address:
            refuse_server("pg_dump")
        writer = BackupWriter(self.folder, version("steelyard"))
        return OperationPorts(backup=writer, audit=self.audit_log, clock=self.clock)

    def _new_upload_id(self) -> str:
        from steelyard.store.ids import new_upload_id

        return new_upload_id(int(self.clock.now().timestamp() * 1000))

    def _once(self, name: str, make: Callable[[], Made]) -> Made:
        with self._lock:
            if name not in self._made:
                self._made[name] = make()
            return cast(Made, self._made[name])

    def _configured(self) -> Settings:
        """The settings, with the suites and targets that the store keeps."""
        from steelyard.usecases.settings.saved_settings import with_saved

        return with_saved(self.setting_ports()) if self._has_store() else self.settings

    def _database(self) -> Engine:
        from steelyard.store.database import open_database

        if address := self.server_address:
            make_private_folder(self.folder)  # for all that is kept in files beside the store
            return open_database(address)
        return open_database(self.folder / _DATABASE)


def restore_ports(file: Path, root: Path) -> RestorePorts:
    """What a restore from a file into a project needs, whose data is not there yet."""
    from steelyard.store.backups.back_up import refuse_server
    from steelyard.store.project import project_at

    if root.is_dir() and project_at(root).settings.store != SQLITE:
        refuse_server("pg_restore")
    from steelyard.store.backups.restored_log import RestoredLog
    from steelyard.store.backups.restores import BackupReader
    from steelyard.store.clock import SystemClock
    from steelyard.usecases.operations.back_up import RestorePorts

    return RestorePorts(reader=BackupReader(file), audit_of=RestoredLog, clock=SystemClock())
