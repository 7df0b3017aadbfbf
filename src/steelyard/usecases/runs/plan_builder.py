"""One pass over the records before the first call, to check and to estimate the run."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from steelyard.contracts.contract import Contract
from steelyard.contracts.duplicates import Duplicates
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.engine.grading.implicit import NothingGrades
from steelyard.engine.prompts import CHARACTERS_A_TOKEN, prompt_tokens
from steelyard.engine.selection import parse_where
from steelyard.errors import ConfigError, InvalidError, RequestError, TemplateError, argument
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Forecast, Planned, target_name
from steelyard.execution.prompting import prompt_of
from steelyard.execution.record_selection import (
    cluster_of_case,
    require_clusters,
    selected,
)
from steelyard.execution.run_options import RunOptions
from steelyard.execution.sendable import left_out, refused
from steelyard.formats.json_hash import record_sha256
from steelyard.model.case import Case
from steelyard.model.finding import Finding, RefusedFileError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.message import UnshownBlock
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.model.unsent import has_more_than_text
from steelyard.ports import Prompt, Sought
from steelyard.usecases.datasets.uploads import MAX_FINDINGS
from steelyard.usecases.runs.grading_plan import GradingPlan
from steelyard.usecases.runs.judge_plan import JudgePlan, Load, judges_of_run, validation_watch
from steelyard.usecases.runs.pair_target import pair_spec
from steelyard.usecases.runs.past_attempts import played_back
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prompt_variants import prompt_spec
from steelyard.usecases.runs.unanswered import Unanswered

_SHOWN_GAPS = 10
_KEPT_TIMES = 2
"""How often what a record says is in memory: as its row, and as its case."""
_KEPT_BYTES = 4000
"""What a record takes there beside what it says."""
_SHOWN_WARNINGS = 3


class Source(FrozenStruct, frozen=True, kw_only=True):
    """Where the records come from."""

    name: str
    reading: DatasetReading
    contract: Contract
    digests: dict[str, str]
    paths: tuple[Path, ...] = ()
    size: int = 0
    """The bytes of those files."""
    version: str | None = None
    """The published version, for a published dataset."""
    unanswered: Unanswered | None = None
    """For a run that is regraded: its records without an answer."""


class PlanBuilder:
    """One pass over the records, to check and to estimate the run."""

    def __init__(
        self,
        ports: RunPorts,
        options: RunOptions,
        source: Source,
        rubric: Rubric | QuestionRubric | None,
        specs: dict[str, TargetSpec],
    ) -> None:
        self._ports = ports
        self.options = options
        self._name = source.name
        self._reading = source.reading
        self._unanswered = source.unanswered
        self._without_answer = 0
        """The number of valid records without an answer to grade."""
        judges = judges_of_run(ports, options)
        self.grading = GradingPlan(
            rubric, options.pass_threshold, judges, source.contract, ports.sources
        )
        self._ungraded = ""
        """The first record that nothing grades, and why."""
        self._unsendable = ""
        """The first record that cannot be sent, and why."""
        self._gaps: list[str] = []
        self._gap_count = 0
        self._warnings = 0
        self._strict: list[Finding] = []
        """What strict mode refuses."""
        self._refusal = ""
        self.duplicates = Duplicates()
        self.forecast = Forecast()
        self._partly = 0
        """Records of which an importer could not bring over every assertion."""
        self.is_sound = True
        self.shown = hashlib.sha256()
        self.specs = specs
        # Not a method: in a cycle, the dataset would stay in memory until garbage is collected.
        self.judges = JudgePlan(judges, partial(_judge_spec, ports, options, specs))
        self._validation_watch = validation_watch(ports, self.judges, options)
        self.kept: list[Planned] | None = []
        self._most_kept = sys.maxsize
        self._size = source.size
        if options.from_conversation:
            spec = ports.conversation()
            self.specs[spec.name] = spec
        elif options.responses:
            spec = ports.recorded(ports.root / options.responses, options.candidate)
            self.specs[spec.name] = spec

    def keep_within(self, memory: int) -> None:
        """Keep the records for the run where they take no more bytes of memory than these.

        What their file says stands in them, in rows and cases.
        """
        self._most_kept = (memory - _KEPT_TIMES * self._size) // _KEPT_BYTES

    def look(self) -> None:
        rows = self._watched(self._reading.rows())
        try:
            self._look_at_all(rows)
        except RequestError:
            deque(rows, maxlen=0)  # report a later line that invalidates the whole file first
            raise
        # Errors of the whole file count beyond the limit, too.
        deque(rows, maxlen=0)
        if self._warnings > _SHOWN_WARNINGS:
            more = self._warnings - _SHOWN_WARNINGS
            self._ports.warn(f"{self._name}: {more} more warning(s); validate lists them")
        self._check_counts()
        self._check_gaps()
        if self._partly and not self.options.rubric:
            self._ports.warn(
                f"{self._name}: {self._partly:,} record(s) are graded without all of their "
                "assertions: those that `metadata.not_converted` names did not come over"
            )
        self.judges.warn_missing()
        if not self.options.derived:
            self.judges.warn_unused()

    def _look_at_all(self, rows: Iterator[Row]) -> None:
        met: set[str] = set()
        cluster = self.options.cluster
        unclustered = 0
        chosen = selected(self._reading, self.options, rows, met=met, refused=self._refused)
        for row, case in chosen:
            self.forecast.total += 1
            if row.findings:
                self._check_findings(row)
            if len(self._strict) >= MAX_FINDINGS:
                break
            if self._strict:
                continue
            graded = prompt = None
            if case is not None:
                self.forecast.valid += 1
                self.duplicates.add(row)
                graded, prompt = self._look_at(row, case)
                unclustered += cluster_of_case(case, cluster) is None
            if self.kept is not None:
                self.kept.append(Planned(row._replace(content=b""), case, graded, prompt))
                if len(self.kept) > self._most_kept:
                    self.kept = None
        self._refuse_strictly()
        self._check_where(met)
        require_clusters(self.options, unclustered, self.forecast.valid, self._ports.warn)

    def _refused(self, row: Row, case: Case) -> Row | None:
        """The row with findings if its target does not support its content and it is graded."""
        if isinstance(self.grading.of(case), NothingGrades) or not self._answers(row.index):
            return None
        unsendable = refused(row, case, self.spec(target_name(self.options, self.specs, case)))
        if unsendable:
            self.is_sound = False
            self._unsendable = self._unsendable or _spoken(unsendable.findings[len(row.findings)])
        return unsendable

    def _watched(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows; an error of the whole file ends the pass."""
        for row in rows:
            if self._reading.is_spoiled:
                raise InvalidError(f"{self._name}: {row.findings[0].message}")
            if row.findings and not row.is_accepted:
                self.is_sound = False
            self.forecast.in_dataset += 1
            yield row

    def _check_where(self, met: set[str]) -> None:
        """A path that no record has is misspelt, and would select all or nothing."""
        where, limit = self.options.selection, self.options.limit
        if not where or self.forecast.valid == limit:  # beyond the limit nobody has looked
            return
        for clause in parse_where(where):
            if clause.path not in met:
                name = self._name
                raise InvalidError(f"{name}: {argument('where')}: no record has '{clause.path}'")

    def _check_counts(self) -> None:
        forecast, name = self.forecast, self._name
        if not forecast.total:
            raise InvalidError(f"{name}: no record is selected")
        if not forecast.valid:
            raise InvalidError(
                f"{name}: none of {forecast.total} record(s) is valid; "
                f"{self._unsendable or '`steelyard validate` says why'}"
            )
        if forecast.valid == self._without_answer:
            raise InvalidError(
                f"{name}: none of {forecast.valid} record(s) has an answer to grade"
            )
        if forecast.valid == forecast.skipped + self._without_answer:
            raise InvalidError(
                f"{name}: nothing grades any of the selected records; name a rubric with "
                f"{argument('rubric')} ({self._ungraded})"
            )

    def _check_findings(self, row: Row) -> None:
        """Warn about the first few misspelt fields; refuse the run in strict mode."""
        for finding in row.findings:
            hint = f" ({finding.hint})" if finding.hint else ""
            path = f": {finding.where}".removesuffix(": ")
            place = f":{finding.line}" if finding.line else path
            message = finding.message.removeprefix(f"Line {finding.line}: ")
            if self.options.strict and finding.strict().is_error:
                self._refusal = self._refusal or f"{place}: strict: {message}{hint}"
                self._strict.append(finding.strict())
            elif not finding.is_error:
                self._warnings += 1
                if self._warnings <= _SHOWN_WARNINGS:
                    self._ports.warn(f"{self._name}{place}: {message}{hint}")

    def _refuse_strictly(self) -> None:
        if self._strict:
            more = f"; and {len(self._strict) - 1:,} more" if len(self._strict) > 1 else ""
            raise RefusedFileError(f"{self._name}{self._refusal}{more}", self._strict)

    def _look_at(self, row: Row, case: Case) -> tuple[Rubric | NothingGrades, Prompt | None]:
        """What grades a record, and what its target is asked, if it is."""
        forecast, repeats = self.forecast, self._answers(row.index)
        graded = self.grading.of(case)
        if not repeats:
            self._without_answer += 1
            return graded, None
        self.grading.note(graded)
        if isinstance(graded, NothingGrades):
            forecast.skipped += 1
            self._ungraded = self._ungraded or f"'{case.id}': {graded.reason}"
            return graded, None
        self._partly += bool(case.metadata.get("not_converted"))
        spec = self.spec(target_name(self.options, self.specs, case))
        forecast.targets[spec.name] = forecast.targets.get(spec.name, 0) + repeats
        is_called = spec.is_asked
        if is_called:
            forecast.calls += repeats
        else:
            forecast.recorded += repeats
        derived = self.options.derived
        is_regrade = derived is not None and derived.is_played_back
        if spec.covers and not is_regrade:  # a cancelled run may lack some repeats
            self._look_for_gaps(spec.name, spec.covers, row, case)
        if hashes := file_hashes(case):
            self.shown.update(json.dumps([case.id, hashes], sort_keys=True).encode("ascii"))
            self.kept = None  # the size of the dataset does not include files
        prompt = self._prompt(spec, case) if is_called else None
        tokens = prompt_tokens(prompt) * repeats if prompt else 0
        forecast.input_tokens += tokens
        if spec.price:
            forecast.cost_usd = (forecast.cost_usd or 0.0) + tokens * spec.price[0] / 1_000_000
        forecast.documents_not_shown += _not_shown(case)
        if loads := self.judges.see(graded, case):
            asked = sum(len(message.text) for message in case.input_messages) + len(case.context)
            for name, load in loads.items():
                self._add_judge_load(name, load, asked, repeats)
        if self._validation_watch:
            self._validation_watch.see(graded, case.id, case.bundle)
        return graded, prompt

    def _answers(self, index: int) -> int:
        """How many repeats of a record are asked, or have an answer to grade."""
        repeats, known = self.options.repeat, self._unanswered
        if known is None:
            return repeats
        return sum(known.of(index, repeat) is None for repeat in range(repeats))

    def _add_judge_load(self, name: str, load: Load, characters: int, repeats: int) -> None:
        """Add the judge load of one record."""
        forecast = self.forecast
        forecast.judges[name] = forecast.judges.get(name, 0) + load.calls * repeats
        tokens = (load.characters + load.calls * characters) // CHARACTERS_A_TOKEN * repeats
        forecast.judge_input_tokens += tokens
        if price := self.judges.specs[name].price:
            cost = tokens * price[0] / 1_000_000
            forecast.judge_cost_usd = (forecast.judge_cost_usd or 0.0) + cost

    def _prompt(self, spec: TargetSpec, case: Case) -> Prompt:
        """What a target is asked, whose length the estimate is made from.

        This also finds template names that a case does not have, before the first call.
        """
        carries = spec.carries if spec.omits else None
        try:
            prompt = prompt_of(self._ports.policies, spec.template, case, carries)
        except TemplateError as wrong:
            raise ConfigError(f"targets.{spec.name}.prompt: '{case.id}': {wrong}") from None
        if spec.omits and has_more_than_text(case.input_messages):
            self.forecast.omitted_blocks += len(left_out(case, spec))
        return prompt

    def _look_for_gaps(
        self, name: str, covers: Callable[[Sought], bool], row: Row, case: Case
    ) -> None:
        def sha256() -> str:
            return record_sha256(self._reading.hashed(row, case))

        for repeat in range(self.options.repeat):
            if not covers(Sought(case, repeat, row.index, sha256)):
                self._gap_count += 1
                if len(self._gaps) < _SHOWN_GAPS:
                    shown = f" repeat {repeat}" if repeat else ""
                    self._gaps.append(f"{case.id} × {name}{shown}")

    def spec(self, name: str) -> TargetSpec:
        """A target by its name, opened once."""
        derived = self.options.derived
        if name not in self.specs and derived and derived.against:
            self.specs[name] = pair_spec(self._ports, derived, name)
        elif name not in self.specs and derived and derived.is_played_back:
            self.specs[name] = played_back(self._ports, derived, name)
        elif name not in self.specs and self.options.prompt is not None:
            self.specs[name] = prompt_spec(self._ports.target, name, self.options.prompt)
        elif name not in self.specs and self.options.model:
            self.specs[name] = self._ports.target_of_model(name, self.options.model)
        elif name not in self.specs:
            self.specs[name] = self.judges.specs.get(name) or self._ports.target(name)
        return self.specs[name]

    def limit(self) -> None:
        """Apply the concurrency option to a target."""
        most = self.options.max_concurrency
        if most:
            self.specs, self.judges.specs = (
                {name: replace(spec, max_concurrency=most) for name, spec in specs.items()}
                for specs in (self.specs, self.judges.specs)
            )

    def _check_gaps(self) -> None:
        if not self._gaps:
            return
        more = self._gap_count - len(self._gaps)
        rest = f", and {more} more" if more else ""
        what = "assistant message" if self.options.from_conversation else "recorded response"
        raise ConfigError(
            f"{self._gap_count} selected pair(s) have no {what}: {', '.join(self._gaps)}{rest}"
        )


def _judge_spec(
    ports: RunPorts, options: RunOptions, specs: Mapping[str, TargetSpec], name: str
) -> TargetSpec:
    """The target of a judge: shared with records, unless theirs is recorded."""
    derived = options.derived
    is_played_back = options.responses or (derived and derived.is_played_back)
    known = None if is_played_back or options.model else specs.get(name)
    return known or ports.target(name)


def _spoken(finding: Finding) -> str:
    return f"{finding.where}{finding.message} ({finding.hint})"


def _not_shown(case: Case) -> int:
    """The number of documents and files of a case without text."""
    documents = sum(document.text is None for document in case.attachments)
    return documents + sum(
        isinstance(block, UnshownBlock)
        for message in case.input_messages
        if isinstance(message.content, tuple)
        for block in message.content
    )
