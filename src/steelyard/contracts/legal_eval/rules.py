"""What the schema cannot state: ids within a row, documents, policies, unknown names."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.contracts.legal_eval.attachments import AttachmentBuilder
from steelyard.contracts.legal_eval.cases import FIELDS
from steelyard.contracts.legal_eval.policies import DEFAULT_POLICY, Policies
from steelyard.formats.json_fields import object_field, object_list, text_field, text_list
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Files

_SHOWN_IDS = 8
_LOOKED_AT = 100


class RowRules:
    """Looks at rows whose shape the schema has accepted."""

    def __init__(self, policies: Policies, files: Files) -> None:
        self._policies = policies
        self._files = files

    def problems(self, row: JsonObject) -> list[Problem]:
        """Everything that is wrong with a row beyond its shape; nearly always nothing."""
        found: list[Problem] = []
        if "rubric" in row:
            found += _repeated(_ids(row, "rubric"), "rubric", "criterion")
        if "choices" in row:
            known = _ids(row, "choices")
            found += _repeated(known, "choices", "choice")
            found += _wrong_choices(text_list(row, "correct_choice_ids"), known)
        metadata = object_field(row, "metadata")
        if "policy_id" in metadata and not self._policies.knows(metadata["policy_id"]):
            found.append(self._unknown_policy(metadata["policy_id"]))
        if "attachments" in row:
            builder = AttachmentBuilder(self._files)
            builder.attachments(object_list(row, "attachments"))
            found += builder.problems
        return found

    def _unknown_policy(self, named: JsonValue) -> Problem:
        known = ", ".join(self._policies.ids)
        hint = did_you_mean(named, self._policies.ids) if isinstance(named, str) else None
        return Problem(
            code="invalid_enum_value",
            message=f"{{}} {named!r} is no policy; {DEFAULT_POLICY} applies. Policies: {known}",
            path=("metadata", "policy_id"),
            hint=hint,
            severity="warning",
        )


def unknown_fields(row: JsonValue) -> Iterator[Problem]:
    """A warning for each field that the contract does not have; near misses the schema names."""
    if not isinstance(row, dict):
        return
    for name in row:
        if name not in FIELDS and not did_you_mean(name, FIELDS):
            yield Problem(
                code="unknown_field",
                message=f"unknown field '{name}' is kept; its place is in metadata",
                path=(name,),
                severity="warning",
            )


def _ids(row: JsonObject, name: str) -> list[str]:
    return [text_field(item, "id") for item in object_list(row, name)]


def _repeated(ids: list[str], field: str, noun: str) -> list[Problem]:
    if len(set(ids)) == len(ids):
        return []
    return [
        Problem(
            code="duplicate_record_id",
            message=f"{{}} '{ids[index]}' is used by an earlier {noun}",
            path=(field, index, "id"),
        )
        for index in sorted(_again(ids))
    ]


def _again(names: list[str]) -> set[int]:
    """Where names stand that have come before."""
    first = {name: index for index, name in reversed(list(enumerate(names)))}
    return set(range(len(names))) - set(first.values())


def _wrong_choices(named: list[str], known: list[str]) -> list[Problem]:
    """Correct choices that are none of the choices, or are named twice."""
    if len(named) == 1 and named[0] in known:
        return []
    found: list[Problem] = []
    again, offered = _again(named), set(known)
    for index, name in enumerate(named):
        path = ("correct_choice_ids", index)
        if index in again:
            message = f"{{}} repeats '{name}'"
            found.append(Problem(code="value_out_of_range", message=message, path=path))
        elif name not in offered:
            hint = did_you_mean(name, _alike(name, known))
            message = f"{{}} must be {_listed(known)}, not '{name}'"
            found.append(Problem(code="invalid_enum_value", message=message, path=path, hint=hint))
    return found


def _alike(name: str, known: list[str]) -> list[str]:
    """The ids that may have been meant; one letter is near to every other."""
    few = known[:_LOOKED_AT]
    return [other for other in few if len(other) > 2 or other.casefold() == name.casefold()]


def _listed(ids: list[str]) -> str:
    shown = ids[:_SHOWN_IDS]
    if len(ids) > _SHOWN_IDS:
        shown.append(f"{len(ids) - _SHOWN_IDS} more")
    return ", ".join(shown[:-1]) + " or " + shown[-1]
