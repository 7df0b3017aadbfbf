"""The values that a judge may choose from, which must be distinct in its reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.formats.problem import Problem
from steelyard.judging.coercion import folded
from steelyard.judging.questions_asked import CANNOT_JUDGE
from steelyard.model.json_value import JsonValue, Path


def offered_problems(values: Iterable[tuple[Path, JsonValue]]) -> Iterator[Problem]:
    """Values that are read as another one, or as a judge's refusal; each comes with its path.

    Values that are equal letter by letter are another rule's.
    """
    seen: dict[str, str] = {}
    for path, value in values:
        if not isinstance(value, str):
            continue
        read_as = folded(value)
        if read_as.replace(" ", "_").replace("-", "_") == CANNOT_JUDGE:
            message = f"{{}} '{value}' is what a judge answers when it cannot decide"
            yield Problem(code="value_out_of_range", message=message, path=path)
        elif seen.setdefault(read_as, value) != value:
            message = f"{{}} '{value}' cannot be told from '{seen[read_as]}' in a reply"
            yield Problem(code="value_out_of_range", message=message, path=path)
