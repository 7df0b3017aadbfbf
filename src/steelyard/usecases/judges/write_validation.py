"""Write a validation to the file of its judge, in the shape of the contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, cast

from steelyard.contracts.judge.validation import validation_row
from steelyard.errors import InvalidError, argument
from steelyard.formats.yaml_fields import with_fields
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge
from steelyard.model.reference import Reference
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.usecases.registry.publish import BUILT_IN, ENDINGS
from steelyard.usecases.registry.references import References


class Writing(NamedTuple):
    """The file of a judge."""

    path: Path
    shown: str

    def with_validation(self, validation: JudgeValidation) -> bytes:
        """Its content with the validation replaced; everything else stays unchanged.

        The domains of the labels become its `applicable_to`, unless the author set it.
        """
        data = self.path.read_bytes()
        is_json = self.path.suffix.lower() == ".json"
        before = cast(JsonObject, json.loads(data) if is_json else parse_yaml(data).value)
        fields: JsonObject = {"validation": validation_row(validation, before.get("validation"))}
        if validation.applicable_to is not None and before.get("applicable_to") is None:
            fields["applicable_to"] = list(validation.applicable_to)
        if is_json:
            row = {**before, **fields}
            return json.dumps(row, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"
        made = with_fields(data, fields)
        if made is None:
            raise InvalidError(
                f"{self.shown} has a layout that cannot be edited in place; put "
                "id, version, template and validation on lines of their own"
            )
        return made


def writing_of(references: References, judge: Judge | None, named: str) -> Writing:
    """The file to which a validation can be written."""
    if judge is None:
        raise InvalidError(
            f"{argument('is_written')} is for judges; {named} is a rubric, and holds no validation"
        )
    if Path(named).suffix.lower() in ENDINGS:
        found = references.at(named)
    else:
        reference = Reference.parse(judge.name)
        found = references.find(reference).definition if reference else None
    is_file = found and not found.is_published and found.data is None
    if found is None or not is_file or found.path.startswith(BUILT_IN):
        raise InvalidError(
            f"{judge.name} has no file of its own to write into; copy it to judges/{judge.id}.yaml"
        )
    return Writing(Path(found.path), found.shown)
