"""`json_schema`: the response is JSON that fits a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import jsonschema_rs

from steelyard.checks.json_in_text import embedded_json, fenced_json
from steelyard.checks.json_reply import any_json
from steelyard.checks.schema_cost import SchemaCost
from steelyard.checks.setting_rules import Rule
from steelyard.checks.text import clip
from steelyard.errors import ParseError, SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import Extra, JsonValue, path_text
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSchema:
    """Pass when the response, or the JSON block in it, fits the schema.

    Nothing is fetched: a reference leads into the schema itself or is refused. Patterns match in
    linear time.
    """

    kind: ClassVar[str] = "json_schema"

    schema: Annotated[Extra, Rule("A JSON Schema; Draft 2020-12 unless it names another.")] = (
        field(hash=False)
    )
    anywhere: Annotated[
        bool, Rule("Whether the JSON may stand between other words; one that fits is enough.")
    ] = False
    _cost: SchemaCost = field(init=False, repr=False, compare=False)
    _validator: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile once; what is no schema, or too large a one, is a SettingError."""
        # First: the compiler's stack overflows where references lead on for too long.
        object.__setattr__(self, "_cost", SchemaCost(dict(self.schema)))
        object.__setattr__(self, "_validator", _compile(self.schema))
        self._cost.require_resolved()

    def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
        """Validate the JSON of the response."""
        try:
            outcome = self._outcome(any_json(trace.response), trace)
        except ParseError as wrong:
            reason = f"is not JSON: {wrong}; got {clip(trace.response)!r}"
            outcome = Outcome.failing(reason)
        if self.anywhere and outcome.passed is False:
            return self._first_fit(trace, outcome)
        return outcome

    def _first_fit(self, trace: Trace, otherwise: Outcome) -> Outcome:
        """The outcome of the JSON between other words that fits; else of the last there is."""
        text = trace.response
        for value in (*fenced_json(text), *embedded_json(text)):
            otherwise = self._outcome(value, trace)
            if otherwise.passed is not False:
                return otherwise
        return otherwise

    def _outcome(self, value: JsonValue, trace: Trace) -> Outcome:
        if not self._cost.is_bearable(value, len(trace.response)):
            return Outcome.unscored("the schema would be applied too often to so large a response")
        wrong = next(iter(self._validator.iter_errors(value)), None)
        if wrong is None:
            return Outcome.passing("is JSON that fits the schema")
        place = path_text(tuple(wrong.instance_path)) or "the top level"
        return Outcome.failing(f"does not fit the schema at {place}: {clip(wrong.message, 160)}")


def _compile(schema: Mapping[str, Any]) -> Any:
    try:
        return jsonschema_rs.validator_for(
            dict(schema), retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions()
        )
    except jsonschema_rs.ValidationError as error:
        place = path_text(tuple(error.instance_path))
        where = f" at {place}" if place else ""
        raise SettingError("schema", f"not a JSON Schema{where}: {error.message}") from None
    except ValueError as error:
        raise SettingError("schema", f"not a JSON Schema: {error}") from None


def _refuse(uri: str) -> None:
    raise ValueError(f"nothing is fetched, not even {uri}")
