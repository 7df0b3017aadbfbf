"""The lines to paste after an error that knows what a `run` lacks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.terminal import option
from steelyard.errors import SteelyardError, Suggestion

if TYPE_CHECKING:
    from steelyard.settings import Settings


def with_suggestion(message: str, error: BaseException, words: Sequence[str]) -> list[str]:
    """The message of an error, and the command as it was typed with what it lacks."""
    found = error.suggestion if isinstance(error, SteelyardError) else None
    if found is None or words[:1] != ["run"]:
        return [message]
    taken = {name for name in found.files if Path(name).exists()}
    arguments = {name: one for name, one in found.arguments.items() if one not in taken}
    if not arguments:
        return [message]
    named = (word for name, value in arguments.items() for word in (option(name), value))
    command = shlex.join(("steelyard", *words, *named))
    files = [
        f'  echo "{text}" > {name}' for name, text in found.files.items() if name not in taken
    ]
    if not files:
        return [f"{message}; run it with: {command}"]
    return [f"{message}; paste these lines to run it:", *files, f"  {command}"]


def completed(found: Suggestion, settings: Settings, lacks: Sequence[str]) -> Suggestion:
    """The suggestion for a table with everything that the project does not define, either.

    `lacks` has `target` and `rubric`, as far as nothing on the command line stands for them.
    """
    from steelyard.usecases.runs.judge_plan import EXPECTED_ANSWER

    targets = settings.targets
    arguments, files = dict(found.arguments), dict(found.files)
    if "target" in lacks and "default" not in targets:
        arguments["target"] = next(iter(targets), "echo")
    if "rubric" in lacks and settings.judge("accuracy").target is None:
        arguments |= EXPECTED_ANSWER.arguments
        files |= EXPECTED_ANSWER.files
    return Suggestion(arguments=arguments, files=files)
