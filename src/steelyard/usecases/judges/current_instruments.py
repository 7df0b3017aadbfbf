"""How judges would be asked today, by the rubrics, targets and files of the project."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from steelyard.errors import SteelyardError
from steelyard.execution.ports import TargetSpec
from steelyard.judging.instrument import judges_of
from steelyard.model.judge import Judge
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.usecases.correction.validation_status import entries_of, instrument_of
from steelyard.usecases.runs.asked_judges import Judges
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.resolved_rubrics import resolve_rubric


async def current_fingerprints(
    ports: RunPorts, wanted: Collection[str]
) -> dict[str, frozenset[str]]:
    """The fingerprints of some judges in the rubrics of the project; none where it is not known.

    A judge that no rubric names, or whose target cannot be opened, is not known.
    """
    judges = Judges(
        catalog=ports.catalog,
        policies=ports.policies,
        references=ports.references,
        settings=ports.settings,
    )
    targets = _Targets(ports, judges)
    found: dict[str, set[str]] = {name: set() for name in wanted}
    try:
        for rubric in _resolved(ports, judges) if found else ():
            for entry, within in entries_of(rubric.checks, rubric):
                asked = {judge.name for judge, _ in judges_of(entry.check)} & found.keys()
                instrument = instrument_of(entry, targets.spec_of, within) if asked else None
                for name in asked:
                    found[name].update(instrument.fingerprints if instrument else ())
    finally:
        await targets.close()
    return {name: frozenset(marks) for name, marks in found.items()}


class _Targets:
    """The targets of judges, each opened once."""

    def __init__(self, ports: RunPorts, judges: Judges) -> None:
        self._ports = ports
        self._judges = judges
        self._specs: dict[str, TargetSpec | None] = {}

    def spec_of(self, judge: Judge, named: str | None) -> TargetSpec | None:
        """The target of a judge; None where it has none, or none that can be opened."""
        name = named or self._judges.setting(judge).target
        if name is None:
            return None
        if name not in self._specs:
            try:
                self._specs[name] = self._ports.target(name)
            except SteelyardError:
                self._specs[name] = None
        return self._specs[name]

    async def close(self) -> None:
        """Close those that were opened."""
        for spec in self._specs.values():
            if spec:
                await spec.target.close()


def _resolved(ports: RunPorts, judges: Judges) -> Iterator[Rubric]:
    """The rubrics of the project that can be used."""
    for one in ports.references.known("rubric"):
        if isinstance(one.content, Rubric | QuestionRubric):
            try:
                yield resolve_rubric(one.content, judges)
            except SteelyardError:
                continue
