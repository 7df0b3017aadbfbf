"""Prompt variants: targets with the template of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.engine.prompt_template import CONSTANT, PromptTemplate
from steelyard.errors import InvalidError, argument
from steelyard.execution.ports import TargetSpec
from steelyard.formats.schema import spoken
from steelyard.model.frozen_struct import FrozenStruct

_SIGN = "+"


class PromptVariant(FrozenStruct, frozen=True):
    """A target to call, and the template that it is asked with instead of its own."""

    name: str | None
    prompt: str | None = None


def variants(targets: Sequence[str | None], prompts: Sequence[Path]) -> Iterator[PromptVariant]:
    """Every target with every prompt; its name ends with that of the prompt file."""
    if not prompts:
        yield from map(PromptVariant, targets)
        return
    templates = {path.name: _template(path) for path in prompts}
    if len(templates) < len(prompts):
        raise InvalidError(
            f"{argument('prompt')} names two files with the same name; a run is named after its "
            "target and the name of the file"
        )
    for target in targets:
        for name, text in templates.items():
            yield PromptVariant(f"{target or 'default'}{_SIGN}{name}", text)


def prompt_spec(target: Callable[[str], TargetSpec], name: str, prompt: str) -> TargetSpec:
    """A target with another template, under the name that shows both."""
    spec = target(name.partition(_SIGN)[0])
    if not spec.is_asked:
        raise InvalidError(f"'{spec.name}' is recorded: it has no use for a prompt")
    return replace(spec, name=name, template=PromptTemplate(prompt))


def _template(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidError(f"{argument('prompt')} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidError(f"{argument('prompt')} {path}: not UTF-8") from None
    template = PromptTemplate(text)
    for problem in template.problems:
        hint = f" ({problem.hint})" if problem.hint else ""
        raise InvalidError(f"{argument('prompt')} {path}: {spoken(problem)}{hint}")
    if template.is_constant:
        raise InvalidError(f"{argument('prompt')} {path} {CONSTANT}")
    return text
