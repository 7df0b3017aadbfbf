"""The target of a pairwise run: the stored answers of two runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from steelyard.execution.ports import TargetSpec
from steelyard.judging.material import output_text
from steelyard.judging.pairwise import OTHER_OUTPUT
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.ports import Request, Target
from steelyard.results.options import ComparedRun, Derived
from steelyard.results.predictions import PREDICTIONS
from steelyard.usecases.runs.pairing import Partner, pair_records
from steelyard.usecases.runs.ports import RunPorts


def pair_spec(ports: RunPorts, derived: Derived, name: str) -> TargetSpec:
    """The target of a pairwise run."""
    against = cast(ComparedRun, derived.against)
    partners = pair_records(against.folder, derived.folder).partners
    mine, others = (
        {target: ports.recorded(folder / PREDICTIONS, target) for target in dict.fromkeys(targets)}
        for folder, targets in (
            (derived.folder, [one.target for one in partners.values()]),
            (against.folder, [one.other_target for one in partners.values()]),
        )
    )
    about: JsonObject = {"provider": "pairwise", "a": against.run_id, "b": derived.run_id}
    target = PairTarget(name, partners, about)
    target.mine = {key: spec.target for key, spec in mine.items()}
    target.others = {key: spec.target for key, spec in others.items()}
    at_once = min(spec.max_concurrency for spec in (*mine.values(), *others.values()))
    return TargetSpec(
        name=name,
        target=target,
        max_concurrency=at_once,
        sampling={},
        response_source="prefilled",
    )


class PairTarget:
    """Returns the trace of run B with the answer of run A."""

    def __init__(self, name: str, partners: Mapping[int, Partner], about: JsonObject) -> None:
        self.name = name
        self.mine: Mapping[str, Target] = {}
        """The recorded targets of run B, by name."""
        self.others: Mapping[str, Target] = {}
        """The recorded targets of run A, by name."""
        self._partners = partners
        self._about = about

    def described(self) -> JsonObject:
        """The runs of its answers."""
        return self._about

    async def ask(self, request: Request) -> Trace:
        """The answers of both runs, without cost and latency, which are in those runs."""
        partner = self._partners[cast(int, request.index)]
        trace = await self.mine[partner.target].ask(request)
        asked = request._replace(index=partner.other_index)
        other = await self.others[partner.other_target].ask(asked)
        return Trace(
            messages=trace.messages,
            model=trace.model,
            extra={OTHER_OUTPUT: output_text(other)},
        )

    async def close(self) -> None:
        """Close the files of both runs."""
        for target in (*self.mine.values(), *self.others.values()):
            await target.close()
