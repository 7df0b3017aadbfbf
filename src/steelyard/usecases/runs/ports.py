"""The ports of planning, starting and resuming runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from steelyard.checks.catalog import Catalog
from steelyard.contracts.catalog import Contracts
from steelyard.execution.ports import ExecutionPorts, TargetSpec, no_correction
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.ports import Workspace, warn_both
from steelyard.results.stored_run import StoredRun
from steelyard.settings import Settings
from steelyard.usecases.correction.validations import Validations
from steelyard.usecases.datasets.published_datasets import PublishedDataset
from steelyard.usecases.registry.load_definition import at_root, load_rubric
from steelyard.usecases.registry.references import References
from steelyard.usecases.runs.grading_programs import Sources

_READING = (
    *("root", "workspace", "settings", "target", "target_of_model", "catalog", "references"),
    *("published", "sources", "fix_published"),
)
"""The ports that depend on the folder that a run reads."""


class RunInputs(Protocol):
    """Keeps what queued runs read until they end.

    The files of a dataset are kept as they are: they cannot be redacted before they are asked.
    """

    def keep(
        self,
        run_id: str,
        files: Mapping[Path, Path],
        contents: Mapping[Path, bytes],
        settings: bytes,
    ) -> None:
        """Keep files by their places in the project, contents by theirs from the root on, and a
        project file with the settings."""
        ...

    def folder(self, run_id: str) -> Path | None:
        """A folder in which they can be read; None for a run that reads the project itself."""
        ...

    def is_lost(self, run_id: str) -> bool:
        """Whether a restore has left out what was kept: such a run can only be cancelled."""
        ...

    def delete(self, run_id: str) -> None:
        """Remove what was kept, if anything was."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPorts(ExecutionPorts):
    """Everything that planning, starting and resuming runs needs."""

    workspace: Workspace
    settings: Settings
    new_run_id: Callable[[], str]
    is_alive: Callable[[str], bool]
    """Whether the process of an owner still runs on this host."""
    target: Callable[[str], TargetSpec]
    """A target by its name in the project file."""
    target_of_model: Callable[[str, str], TargetSpec]
    """The same with another model than its own."""
    candidates: Callable[[Path], Sequence[str]]
    """The names of the candidates of a response file."""
    recorded: Callable[[Path, str | None], TargetSpec]
    """The target for a candidate of a response file; the first if unnamed."""
    conversation: Callable[[], TargetSpec]
    """The target whose answer is the last assistant message of the case itself."""
    catalog: Catalog
    """The kinds of checks."""
    contracts: Contracts
    """The contracts of datasets."""
    references: References
    """The rubrics and judges that cases may refer to."""
    published: Callable[[str, Mapping[str, str] | None], PublishedDataset]
    """The dataset of a reference `dataset/id@version`, for a new run or with the hashes of the
    files that a run began with."""
    began_with: Mapping[str, str] | None = None
    """The hashes of the dataset's files, by name, where a run has begun."""
    sources: Sources
    """The files of a plug-in, with their hashes."""
    require_sealed: Callable[[Path], None]
    """Refuse the folder of a finished run that was changed."""
    run_folder: Callable[[str], Path]
    """The folder of a run, with its files as far as they were sealed."""
    inputs: RunInputs
    """What queued runs read."""
    delete_upload: Callable[[Path], None]
    """Remove the posted dataset that a name stands for; any other name means nothing."""
    reading: Callable[[Path], RunPorts]
    """The ports whose files, settings and targets are those of another folder."""
    noting: Callable[[dict[Path, Path]], Workspace]
    """The same files, with a note of each that is read, by its place in the project."""
    new_secret: Callable[[], str]
    """The secret seed of nonces and orders of a run."""
    secrets: tuple[str, ...] = ()
    """The keys and header values of all targets of the project."""
    gathered: list[str] = field(default_factory=list[str])
    """What was warned of, where warnings are gathered."""
    validations: Validations | None = None
    """The validations of the project; None if they are not checked."""

    def rubric(self, name: str, *, strict: bool) -> Rubric | QuestionRubric:
        """A rubric by reference or path; `strict` refuses one that strict mode does not take."""
        return load_rubric(self.references, at_root(self.root, name), strict=strict)

    def gathering(self) -> RunPorts:
        """The same for planning one run, whose warnings are gathered to be kept with it."""
        gathered: list[str] = []
        return replace(
            self,
            gathered=gathered,
            warn=warn_both(self.warn, gathered.append),
            references=self.references.gathering(gathered),
        )

    def of_run(self, run: StoredRun) -> RunPorts:
        """The ports of a run: a queued one reads what was kept for it, and not the project."""
        folder = self.inputs.folder(run.run_id)
        began = replace(self, began_with=run.plan.source if run.plan else None)
        if folder is None:
            return began
        there = self.reading(folder)
        taken = {name: getattr(there, name) for name in _READING}
        # Settings that are kept hold no header values of other targets, which are secrets too.
        return replace(began, **taken, secrets=(*there.secrets, *self.secrets))

    def delete_inputs(self, run: StoredRun) -> None:
        """Remove what a run that has ended no longer reads."""
        self.inputs.delete(run.run_id)
        if run.plan:
            self.delete_upload(run.plan.options.dataset)

    def without_validations(self) -> RunPorts:
        """These ports without validations, for runs that validate a judge."""
        return replace(self, validations=None, correct=no_correction)
