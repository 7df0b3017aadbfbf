"""What was run, how, and the hash of every other artifact: `run_manifest.json`.

A field that may be unset is one that runs of earlier versions, or most runs, do not have, or one
that is known only when a run has ended.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from steelyard.errors import UnreadableFileError
from steelyard.model.json_value import JsonObject
from steelyard.model.run import CANARIES, RunState
from steelyard.results.json_struct import JsonStruct, from_json
from steelyard.results.options import Derived, Number, StoredOptions
from steelyard.results.sealing import Seal

FORMAT_VERSION = 1
"""Of all artifacts of a run; it is raised when readers of the one before would misread them."""
Settings: TypeAlias = dict[str, Any]
"""What a target describes of itself, as JSON."""


class UsedRubric(JsonStruct, frozen=True, kw_only=True):
    """A rubric that graded."""

    rubric: str
    sha256: str | None = None
    grading_sha256: str | UnsetType | None = UNSET
    """Of what scores depend on."""
    combine: str | UnsetType = UNSET


class UsedProgram(JsonStruct, frozen=True, kw_only=True):
    """A file of a program or plug-in that graded."""

    file: str
    sha256: str


class UsedPolicy(JsonStruct, frozen=True, kw_only=True):
    """A policy by which rows of legal_eval were put to a target."""

    policy: str
    revision: int | UnsetType = UNSET
    sha256: str


class UsedTemplate(JsonStruct, frozen=True, kw_only=True):
    """The template of a judge, or the prompt of a target."""

    judge: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    sha256: str


class UsedPrice(JsonStruct, frozen=True, kw_only=True):
    """The price of a target, in US dollars per million tokens."""

    target: str
    input: float
    output: float
    source: Literal["project", "list"]
    as_of: str | UnsetType = UNSET
    """The date of a list price."""


class Retry(JsonStruct, frozen=True, kw_only=True):
    """How calls were tried again."""

    max_attempts: int
    backoff_s: tuple[Number, ...]
    jitter: Number


class RunSetup(JsonStruct, frozen=True, kw_only=True):
    """The part of a manifest that is known when a run begins."""

    group_id: str | None = None
    dataset_id: str
    dataset_version: str | None
    schema_version: str | None
    contract: str
    source: dict[str, str]
    """The sha256 of the dataset's files, by name."""
    model: str | None = None
    """Of the target, like the next ones, where there is only one."""
    temperature: Number | None = None
    top_p: Number | None = None
    max_new_tokens: Number | None = None
    seed: Number | None = None
    targets: dict[str, Settings]
    judge_targets: dict[str, Settings] | UnsetType = UNSET
    prices: tuple[UsedPrice, ...] | UnsetType = UNSET
    """Of targets and of those of judges."""
    rubrics: tuple[UsedRubric, ...]
    graders: dict[str, int] | UnsetType = UNSET
    """The revision of each kind of check."""
    programs: tuple[UsedProgram, ...] | UnsetType = UNSET
    policies: tuple[UsedPolicy, ...] | UnsetType = UNSET
    templates: tuple[UsedTemplate, ...] | UnsetType = UNSET
    options: StoredOptions
    not_selected: int | UnsetType = UNSET
    """How many records of the dataset its selection leaves out; unset without one."""
    retry: Retry | UnsetType = UNSET
    derived_from: Derived | None
    omitted_blocks: int | UnsetType = UNSET
    documents_not_shown: int | UnsetType = UNSET

    @property
    def is_of_canaries(self) -> bool:
        """Whether it is about answers that a judge must fail, which are no sample of anything."""
        providers = {one.get("provider") for one in self.targets.values()}
        return self.dataset_id == CANARIES and providers == {CANARIES}

    @property
    def is_weighted(self) -> bool:
        """Whether every rubric is known to take the mean of its checks by their weights."""
        combined = {one.combine for one in self.rubrics}
        return combined == {"weighted_avg"}


class StateTime(JsonStruct, frozen=True, kw_only=True):
    """When a run came to a state."""

    state: str
    """The state."""
    at: str
    """When the run came to it."""


class Interruption(JsonStruct, frozen=True, kw_only=True):
    """A stop of a run that was resumed."""

    stopped_at: str | None
    """None where the process was killed."""
    resumed_at: str


class UsedJudge(JsonStruct, frozen=True, kw_only=True):
    """A judge as it was asked through one target.

    Where a run could not be read at its end, its name and target alone are known.
    """

    judge: str
    id: str | UnsetType | None = UNSET
    version: str | UnsetType | None = UNSET
    sha256: str | UnsetType | None = UNSET
    template_sha256: str | UnsetType | None = UNSET
    model: str | UnsetType | None = UNSET
    fingerprint: str | UnsetType | None = UNSET
    """Of template, model and sampling."""
    target: str | None = None
    enforced: bool | UnsetType | None = UNSET
    """Whether its endpoint was seen to hold to a schema."""
    fingerprints: tuple[str, ...] | UnsetType = UNSET
    """Of what it was asked: the first ones."""
    fingerprint_count: int | UnsetType = UNSET


class ProbeCall(JsonStruct, frozen=True, kw_only=True):
    """A call that found out whether an endpoint holds to a schema, with what it took."""

    target: str
    enforced: bool | None
    attempts: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Number | None


class Harness(JsonStruct, frozen=True, kw_only=True):
    """The program that made a run."""

    name: str
    version: str


class Redaction(JsonStruct, frozen=True, kw_only=True):
    """How often each kind was replaced."""

    secrets: int
    patterns: dict[str, int]
    custom: dict[str, int] | UnsetType = UNSET
    fields: dict[str, int] | UnsetType = UNSET
    version: str | UnsetType = UNSET
    """Of the patterns."""


class Manifest(JsonStruct, frozen=True, kw_only=True):
    """A run as its artifacts describe it; of one that has not ended, what is known so far."""

    format_version: int = FORMAT_VERSION
    run_id: str
    status: RunState
    created_at: str
    started_at: str | UnsetType | None = UNSET
    completed_at: str | None
    states: tuple[StateTime, ...]
    interruptions: tuple[Interruption, ...] | UnsetType = UNSET
    setup: RunSetup
    """In JSON its fields stand here, among those of the manifest."""
    judges: tuple[UsedJudge, ...] | UnsetType = UNSET
    probes: tuple[ProbeCall, ...] | UnsetType = UNSET
    harness: Harness | UnsetType = UNSET
    environment: dict[str, str] | UnsetType = UNSET
    unread: str | UnsetType | None = UNSET
    """Why the dataset could not be read at the end."""
    artifacts: dict[str, Seal] | UnsetType = UNSET
    writer: str | UnsetType = UNSET
    """In a bucket: the folder of the files, beside the manifest."""
    redaction: Redaction | UnsetType = UNSET
    manifest_sha256: str | UnsetType = UNSET

    def json(self) -> JsonObject:
        """As JSON, in the order of the artifact."""
        row: JsonObject = {}
        for name, value in super().json().items():
            row |= self.setup.json() if name == "setup" else {name: value}
        return row


class _Format(JsonStruct, frozen=True, kw_only=True):
    run_id: str
    format_version: int = FORMAT_VERSION


_HIDDEN = "[redacted:"
_EMPTY: dict[str, Any] = {
    **{name: {} for name in ("source", "targets", "judge_targets", "environment")},
    **dict.fromkeys(("rubrics", "judges", "templates", "programs", "policies", "probes"), ()),
}


def without_hidden(row: JsonObject) -> JsonObject:
    """What is readable of a manifest: earlier versions hid parts called like hidden fields."""
    hidden = [name for name in _EMPTY if str(row.get(name)).startswith(_HIDDEN)]
    return {**row, **{name: _EMPTY[name] for name in hidden}}


def read_manifest(data: bytes) -> Manifest:
    """The content of `run_manifest.json`."""
    row = json.loads(data)
    found = from_json(row, _Format)
    if found.format_version > FORMAT_VERSION:
        raise UnreadableFileError(
            f"{found.run_id} has artifacts of format {found.format_version}, and this version of "
            f"Steelyard reads format {FORMAT_VERSION}; install a newer one"
        )
    row = without_hidden(row)
    return from_json({**row, "setup": row}, Manifest)
