"""Judges in every form that the contract can carry, for hypothesis."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from steelyard.judging.coercion import folded
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge, ScoreType, Validation

# Python and JSON Schema differ about what is blank; a letter is not, for both.
FILLED = st.text(max_size=10).map(lambda text: text if any(map(str.isalnum, text)) else f"{text}a")
_BEYOND: list[JsonObject] = [{}, {"x_a": 1}, {"x_b": {"c": [None, "ä"]}, "x_c": "2025-01-01"}]
EXTRAS = st.sampled_from(_BEYOND)
VERSIONS = st.sampled_from(["1.0.0", "0.0.1", "10.20.30", "2.0.0-rc.1", "1.2.3-a.b+c-d"])
IDS = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_RATES = st.none() | st.floats(0, 1)
_TEMPLATES = st.lists(
    st.sampled_from(["{{ input }}", "{{{ output }}}", "{{#criteria}}{{.}}{{/criteria}}", "\n"])
    | st.text(st.characters(exclude_characters="{", exclude_categories=("Cs",)), max_size=6),
    max_size=4,
).map(lambda parts: "".join(["{{ output }}", *parts]))
_VALIDATIONS = st.builds(
    Validation,
    tpr=_RATES,
    tnr=_RATES,
    validated_against=st.none() | FILLED,
    validated_at=st.none() | st.dates().map(str) | st.datetimes().map(lambda time: f"{time}Z"),
    sample_size=st.none() | st.integers(0, 2**53),
    extra=EXTRAS,
)


def _judge(names: list[str], kind: str, **fields: object) -> Judge:
    fields["score_type"] = cast(ScoreType, "levels" if names else kind)
    return Judge(level_names=tuple(names), **fields)  # pyright: ignore[reportArgumentType]


JUDGES = st.builds(
    _judge,
    st.just([]) | st.lists(FILLED, min_size=2, max_size=3, unique_by=folded),
    st.sampled_from(["binary", "continuous"]),
    id=IDS,
    version=VERSIONS,
    template=_TEMPLATES,
    validation=st.none() | _VALIDATIONS,
    applicable_to=st.none() | st.lists(FILLED, max_size=2).map(tuple),
    description=st.text(max_size=8),
    extra=EXTRAS,
)
"""Judges that the contract allows."""
