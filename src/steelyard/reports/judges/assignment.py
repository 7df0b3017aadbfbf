"""A sample of records to label, with inclusion probabilities, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.assignment import Assignment
from steelyard.reports.findings import printable
from steelyard.reports.numbers import count

_HOW = {
    "random": "at random",
    "stratified": "at random within strata",
    "near_threshold": "the nearer to the threshold, the likelier",
    "jury_split": "the more divided the jury, the likelier",
}


def assignment_lines(found: Assignment) -> Iterator[str]:
    """Sample size, sampling method, and the range of inclusion probabilities."""
    yield (
        f"{count(len(found.assigned))} of {count(found.records)} records of {found.run_id} for "
        f"{printable(found.rubric)}, {_HOW[found.choice.by]} (seed {found.choice.seed})"
    )
    chances = [one.inclusion_prob for one in found.assigned]
    if chances:
        yield f"  inclusion probability {min(chances):.4g} to {max(chances):.4g}"
    for name, (taken, size) in found.strata.items():
        yield f"  {printable(name)}  {count(taken)} of {count(size)}"
    for reason, number in found.left_out.items():
        yield f"  left out: {count(number)} {reason}"


def assignment_json(found: Assignment) -> JsonObject:
    """The sample as JSON, with every record."""
    choice = found.choice
    records: list[JsonValue] = [
        {
            "record_id": one.candidate.record_id,
            "repeat": one.candidate.repeat,
            "inclusion_prob": one.inclusion_prob,
            "stratum": one.stratum,
            "score": one.candidate.score,
        }
        for one in found.assigned
    ]
    return {
        "run_id": found.run_id,
        "rubric": found.rubric,
        "by": choice.by,
        "seed": choice.seed,
        "threshold": choice.threshold if choice.by == "near_threshold" else None,
        "of": found.records,
        "left_out": dict(found.left_out),
        "strata": {
            name: {"assigned": taken, "of": size} for name, (taken, size) in found.strata.items()
        },
        "assigned": records,
    }
