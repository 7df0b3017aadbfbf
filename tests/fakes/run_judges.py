"""The judges of a project as a run finds them."""

from __future__ import annotations

import json

from fakes.definitions import DefinitionProject
from steelyard.checks.catalog import Catalog
from steelyard.checks.programs import Programs
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.model.json_value import JsonObject
from steelyard.project_file import parse_settings
from steelyard.usecases.runs.asked_judges import Judges


def judges_in(
    project: DefinitionProject,
    entries: dict[str, JsonObject] | None = None,
    *,
    replaced: str | None = None,
    strict: bool = False,
    programs: Programs | None = None,
) -> Judges:
    """Those of a project with the given `judges` settings."""
    return Judges(
        catalog=Catalog(programs=programs),
        policies=built_in_policies(),
        references=project.references,
        settings=parse_settings(json.dumps({"judges": entries or {}}).encode()),
        replaced=replaced,
        strict=strict,
    )
