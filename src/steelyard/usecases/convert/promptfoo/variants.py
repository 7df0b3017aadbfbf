"""Several prompts: each becomes the template of a target, so that they can be compared."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.mustache import as_text
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject
from steelyard.usecases.convert.promptfoo.prompts import PromptfooPrompt, messages
from steelyard.usecases.convert.promptfoo.providers import slug
from steelyard.usecases.convert.promptfoo.templates import as_mustache, names_in, rendered

_APART = (
    "the prompts have different messages before the question, and the prompt of a target is the "
    "question alone; each asks with cases of its own, and metadata.prompt names it"
)


class Variant(NamedTuple):
    """A prompt with the name of its targets and the template of their prompt."""

    prompt: PromptfooPrompt
    name: str
    template: str | None
    """None where it is filled in for every case, and stands in its metadata."""

    @property
    def text(self) -> str:
        """The prompt of its targets."""
        return self.template or f"{{{{ metadata.rendered.{self.name} }}}}"


class Variants:
    """The prompts of a configuration, if there are several."""

    def __init__(self, prompts: list[PromptfooPrompt]) -> None:
        self.changes: list[Change] = []
        self.all: list[Variant] = []
        self.apart: list[PromptfooPrompt] = []
        """Prompts that ask with cases of their own, since no target can vary them."""
        self.single = prompts[0] if prompts else None
        """The prompt that cases are asked with as it is, where there is only one."""
        self._earlier = _before(prompts[0]) if prompts else []
        kept = [prompt for prompt in prompts if self._is_read(prompt)] if prompts[1:] else []
        self.is_needed = len(kept) > 1 and all(map(self._is_alike, kept))
        if not self.is_needed:
            self._ask_apart(kept)
            return
        self._variables = self._taken(kept)
        only = self._variables[0] if len(self._variables) == 1 else ""
        for prompt in kept:
            self.all.append(self._variant(prompt, only))

    def _ask_apart(self, kept: list[PromptfooPrompt]) -> None:
        if kept[1:]:
            self.apart, self.single = kept, None
            self.changes += [prompt.place.replaced(_APART) for prompt in kept]
        elif kept:
            self.single = kept[0]
        elif self.single is not None:
            # The first of them is asked whole, so that it is not missing.
            first = str(self.single.place)
            self.changes = [change for change in self.changes if change.field != first]

    @property
    def asking(self) -> list[PromptfooPrompt | None]:
        """The prompts that a test is asked with as they are; None where targets have them."""
        return [*self.apart] or [None if self.is_needed else self.single]

    def name(self, prompt: PromptfooPrompt) -> str:
        """What the targets of a prompt are called after, or cases that it has of its own."""
        if any(prompt is one for one in self.apart):
            stems = [slug(one.label or "prompt") for one in self.apart]
            at = next(at for at, one in enumerate(self.apart) if one is prompt)
            return stems[at] if stems.count(stems[at]) == 1 else f"{stems[at]}-{at + 1}"
        found = (variant.name for variant in self.all if variant.prompt is prompt)
        return next(found, slug(prompt.label or prompt.text[:40]))

    def asked(self, values: JsonObject) -> tuple[list[JsonObject], JsonObject]:
        """What a case asks whatever the prompt, and its metadata for the prompts."""
        shown: JsonObject = {"vars": {name: values.get(name, "") for name in self._variables}}
        unfinished = [variant for variant in self.all if variant.template is None]
        if unfinished:
            shown["rendered"] = {
                variant.name: rendered(_question(variant.prompt), values) for variant in unfinished
            }
        render = partial(rendered, values=values)
        earlier = messages(self.all[0].prompt.text, render)[:-1] if self._earlier else []
        return [*earlier, {"role": "user", "content": self._text(values)}], shown

    def _text(self, values: JsonObject) -> str:
        if len(self._variables) == 1:
            text = as_text(values.get(self._variables[0], ""))
        else:
            lines = [f"{name}: {as_text(values.get(name, ''))}" for name in self._variables]
            text = "\n".join(lines) or rendered(_question(self.all[0].prompt), values)
        if not text.strip():
            raise wrong("the variables of the prompts are empty")
        return text

    def _is_read(self, prompt: PromptfooPrompt) -> bool:
        try:
            names_in(prompt.text)
        except ParseError as why:
            self.changes.append(prompt.place.lost(why))
            return False
        return True

    def _is_alike(self, prompt: PromptfooPrompt) -> bool:
        """Whether a target can ask with the prompt after what the first says before it."""
        try:
            _question(prompt)
        except ParseError:
            return False
        return _before(prompt) == self._earlier

    def _taken(self, prompts: list[PromptfooPrompt]) -> list[str]:
        names = [name for prompt in prompts for name in names_in(_question(prompt))]
        return list(dict.fromkeys(names))

    def _variant(self, prompt: PromptfooPrompt, only: str) -> Variant:
        stem = slug(prompt.label or f"prompt-{len(self.all) + 1}").replace(".", "-")
        taken = {variant.name for variant in self.all}
        name = f"{stem}-{len(self.all) + 1}" if stem in taken else stem
        names = {only: "input"} if only else {}
        return Variant(prompt, name, as_mustache(_question(prompt), names))


def _before(prompt: PromptfooPrompt) -> list[object]:
    return [] if prompt.chat is None else [*prompt.chat[:-1]]


def _question(prompt: PromptfooPrompt) -> str:
    """The last message of a prompt, which is what its targets ask."""
    chat = prompt.chat
    if chat is None:
        return prompt.text
    last = chat[-1]
    content = last.get("content") if isinstance(last, dict) else None
    if not isinstance(content, str) or not isinstance(last, dict) or last.get("role") != "user":
        raise wrong("its last message must be a text of the user where there are several prompts")
    return content
