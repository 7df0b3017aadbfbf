"""A promptfoo configuration: every test a case, every provider with every prompt a target."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from steelyard.contracts.importers.foreign_files import is_eval_cases
from steelyard.contracts.importers.source_row import Import, Imported, content_id, wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.assertions import (
    MappedAssertions,
    evaluators_of,
)
from steelyard.usecases.convert.promptfoo.context import AssertionContext, ProgramFolder
from steelyard.usecases.convert.promptfoo.prompts import PromptfooPrompt, messages, read_prompts
from steelyard.usecases.convert.promptfoo.source import (
    ConfigFiles,
    ConfigPlace,
    is_file,
    listed,
    objects,
)
from steelyard.usecases.convert.promptfoo.targets import Targets
from steelyard.usecases.convert.promptfoo.templates import (
    filled_values,
    rendered,
)
from steelyard.usecases.convert.promptfoo.tests import (
    PromptfooTest,
    combinations,
    read_tests,
    variables,
)
from steelyard.usecases.convert.promptfoo.variants import Variants

_CONFIG = {
    *("prompts", "tests", "defaultTest", "description", "$schema", "providers", "targets"),
    *("scenarios", "assertionTemplates"),
}
_RUNNING = {
    *("outputPath", "sharing", "commandLineOptions", "evaluateOptions", "tags"),
    *("options.runSerially", "options.repeat", "options.timeout", "options.includeMetrics"),
    "options.showOutput",
}
"""What says only how to run, what to show or where to write."""
_TEST = {
    *("vars", "assert", "description", "metadata", "threshold", "options", "prompts", "providers"),
    "provider",
}
_OPTIONS = {
    *("disableDefaultAsserts", "prefix", "suffix", "provider", "rubricPrompt", "factuality"),
    *("disableVarExpansion", "transform", "postprocess"),
}
_NO_PLACE = "a dataset has no place for it"
_NO_CASES = {
    "redteam": "promptfoo generates the tests of a red team; `promptfoo redteam generate` writes "
    "them into a file that can be converted"
}
_UNGRADED = "no assertion came over, so that nothing grades the case"
_PARTLY = (
    "the threshold counts every assertion, and not all came over, so that nothing grades the case"
)
_WEIGHTLESS = "assertions with the weight 0 never fail a test, so that nothing grades the case"
_SHARED = "only assertions of defaultTest came over, so that nothing grades the case"
_TALKED = (
    "it repeats what was said before (_conversation), which is not carried over; nothing grades "
    "the cases, and metadata.conversationId names their conversation where the test does"
)
_UNTALKED = "a prompt repeats a conversation that is not there, so that nothing grades the case"
_PROVIDED = ("providers", "provider")
_HOW = "it says how promptfoo runs; `steelyard run` has options of its own"
_ASKED = "the case is asked with every prompt; metadata.prompts names those of the test"


def checked_config(config: JsonValue) -> JsonObject:
    """A configuration of promptfoo; raises ParseError where it is none."""
    if not isinstance(config, dict):
        raise wrong("the top level must be an object with 'prompts' and 'tests'")
    if not any(name in config for name in ("prompts", "tests", "scenarios", "redteam")):
        raise wrong("there is no 'prompts'; a promptfoo configuration has prompts and tests")
    if is_eval_cases(config):
        raise wrong(
            "it is no promptfoo configuration but a file of eval cases, as agentv has them: its "
            "tests have ids or inputs, or its assertions are texts or have 'negate'; "
            "`steelyard run` reads it as it is"
        )
    return config


class PromptfooProject:
    """A configuration that is read: its cases, its targets and what did not come over."""

    def __init__(
        self,
        config: JsonObject,
        source: ConfigFiles,
        file: str,
        programs: ProgramFolder | None = None,
    ) -> None:
        self.config = config
        self.source = source
        self.file = file
        self.programs = programs
        self.changes = [
            _left(ConfigPlace(file), name)
            for name in config
            if name not in _CONFIG and not name.startswith("x-")
        ]
        self._default = self._default_test()
        self._prompts = self._kept(read_prompts(config, file, source))
        talking = [prompt.place for prompt in self._prompts if prompt.takes_conversation]
        self._is_talking = bool(talking)
        self.changes += [place.lost(_TALKED) for place in dict.fromkeys(talking)]
        self.targets = Targets(config, file, source)
        self._variants = Variants(self._prompts)
        self.changes += [*self.targets.changes, *self._variants.changes]
        self.changes += self.targets.prompted(self._variants)

    def _default_test(self) -> JsonObject:
        place = ConfigPlace(self.file, "defaultTest")
        try:
            found = self.source.resolved(self.config.get("defaultTest"))
        except ParseError as why:
            self.changes.append(place.lost(why))
            return {}
        return objects(found)

    def _kept(self, found: Iterator[PromptfooPrompt | Change]) -> list[PromptfooPrompt]:
        prompts: list[PromptfooPrompt] = []
        for one in found:
            if isinstance(one, Change):
                self.changes.append(one)
            else:
                prompts.append(one)
        return prompts

    def project(self) -> JsonObject:
        """What the project file says: the targets, and which of them judges."""
        return self.targets.project(self._variants)

    def cases(self) -> Iterator[tuple[str, Import]]:
        """Every test as a case, with its place; a test that cannot be read is a refusal."""
        if not self._prompts:
            yield (
                str(ConfigPlace(self.file, "prompts")),
                Refusal("left_out", "no prompt can be read, so that nothing is asked", "prompts"),
            )
            return
        taken: dict[str, JsonObject] = {}
        for test in read_tests(self.config, self.file, self.source):
            if isinstance(test, Change):
                yield test.field, Refusal("left_out", f"{test.field}: {test.message}", test.field)
                continue
            for found in self._cases(test):
                yield str(test.place), _renamed(found, taken)

    def _cases(self, test: PromptfooTest) -> Iterator[Import]:
        try:
            stated = {
                **variables(self._default.get("vars"), self.source),
                **variables(test.row.get("vars"), self.source),
            }
            options = self._options(test.row)
            if options.get("transformVars"):
                raise wrong("options.transformVars makes the variables with a program")
            values = [stated]
            if not options.get("disableVarExpansion"):
                values = list(combinations(stated, self.source))
        except ParseError as why:
            yield Refusal("left_out", f"{test.place}: {why}", str(test.place))
            return
        for one, prompt in product(values, self._variants.asking):
            try:
                wanted = self._wanted(test)
                if prompt is None or prompt in wanted:
                    yield self._case(test, filled_values(one), options, prompt)
            except ParseError as why:
                yield Refusal("left_out", f"{test.place}: {why}", str(test.place))

    def _options(self, test: JsonObject) -> JsonObject:
        return {**objects(self._default.get("options")), **objects(test.get("options"))}

    def _case(
        self,
        test: PromptfooTest,
        values: JsonObject,
        options: JsonObject,
        prompt: PromptfooPrompt | None,
    ) -> Imported:
        asked, shown = self._asked(values, options, prompt)
        description = test.row.get("description")
        changes: list[Change] = self._unread(test, options)
        grading = AssertionContext(
            render=partial(rendered, values=values),
            source=self.source,
            values=values,
            judge=self.targets.judge,
            programs=self.programs,
            options=options,
            templates=objects(self.config.get("assertionTemplates")),
            providers=self.targets.ids,
        )
        threshold = test.row.get("threshold", self._default.get("threshold"))
        entries = self._assertions(test, options)
        made = evaluators_of(entries, grading, threshold)
        changes += made.changes
        row: JsonObject = {
            "id": content_id("promptfoo", values, description),
            "input_messages": [*asked],
        }
        why = self._ungraded(test, made, threshold)
        if made.evaluators and not why:
            row["evaluators"] = [*made.evaluators]
        else:
            row["evaluator"] = "none"
            if entries:
                changes.append(Change("grading", why or _UNGRADED))
        metadata = {**objects(self._default.get("metadata")), **objects(test.row.get("metadata"))}
        if isinstance(description, str):
            metadata = {"description": description, **metadata}
        metadata.update(shown)
        if prompt is not None and self._variants.apart:
            metadata["prompt"] = name = self._variants.name(prompt)
            row["id"] = f"{row['id']}-{name}"
        else:
            metadata.update(self._only(test, changes))
        named = [one for name in _PROVIDED for one in listed(test.row.get(name))]
        if named:
            metadata["providers"] = ", ".join(_provider_name(one) for one in named)
        if made.lost:
            metadata["not_converted"] = [*made.lost.values()]
        if metadata:
            row["metadata"] = metadata
        return Imported(row, tuple(changes))

    def _ungraded(self, test: PromptfooTest, made: MappedAssertions, threshold: JsonValue) -> str:
        """Why what came over must not grade the case; nothing where it may."""
        if not made.evaluators:
            return ""
        if self._is_talking:
            return _UNTALKED
        if threshold is not None and made.lost:
            return _PARTLY
        if threshold is None and all(one.get("weight") == 0 for one in made.evaluators):
            return _WEIGHTLESS
        own = test.place.at("assert")
        places = [own.at(index) for index, _ in enumerate(listed(test.row.get("assert")))]
        return _SHARED if places and all(place in made.lost for place in places) else ""

    def _asked(
        self, values: JsonObject, options: JsonObject, prompt: PromptfooPrompt | None
    ) -> tuple[list[JsonObject], JsonObject]:
        """What the case asks, and what the prompts of targets take from its metadata."""
        before, after = options.get("prefix") or "", options.get("suffix") or ""
        if prompt is not None:
            if (before or after) and prompt.chat is not None:
                raise wrong("a conversation cannot stand between options.prefix and suffix")
            text = f"{before}{prompt.text}{after}"
            asked = messages(text, partial(rendered, values=values))
            if not asked:
                raise wrong(f"prompt {prompt.place} is empty with these values")
            return asked, {}
        if before or after:
            raise wrong("options.prefix and suffix are only read where there is one prompt")
        return self._variants.asked(values)

    def _assertions(
        self, test: PromptfooTest, options: JsonObject
    ) -> list[tuple[ConfigPlace, JsonValue]]:
        shared = listed(self._default.get("assert"))
        if options.get("disableDefaultAsserts") is True:
            shared = []
        where = self.config.get("defaultTest")
        file = str(where).removeprefix("file://") if is_file(where) else self.file
        top = ConfigPlace(file, "" if is_file(where) else "defaultTest").at("assert")
        own = test.place.at("assert")
        return [
            *((top.at(index), entry) for index, entry in enumerate(shared)),
            *(
                (own.at(index), entry)
                for index, entry in enumerate(listed(test.row.get("assert")))
            ),
        ]

    def _wanted(self, test: PromptfooTest) -> list[PromptfooPrompt]:
        """The prompts that a test is for; raises ParseError where there is none of them."""
        named = test.row.get("prompts", self._default.get("prompts"))
        if named is None:
            return self._prompts
        wanted = [str(name) for name in listed(named)]
        found = [
            prompt for prompt in self._prompts if any(prompt.is_named(name) for name in wanted)
        ]
        if not found:
            names = ", ".join(wanted)
            raise wrong(f"it asks with the prompts {names}, and there is none of them")
        return found

    def _only(self, test: PromptfooTest, changes: list[Change]) -> JsonObject:
        """The prompts that a test is for, where it is not for all of them."""
        found = self._wanted(test)
        if len(found) == len(self._prompts):
            return {}
        changes.append(test.place.at("prompts").replaced(_ASKED))
        return {"prompts": [self._variants.name(prompt) for prompt in found]}

    def _unread(self, test: PromptfooTest, options: JsonObject) -> list[Change]:
        shared = ConfigPlace(self.file, "defaultTest")
        changes = [
            _left(test.place if name in test.row else shared, name)
            for name in dict.fromkeys((*self._default, *test.row))
            if name not in _TEST
        ]
        own = objects(test.row.get("options"))
        changes += [
            _left(test.place if name in own else shared, f"options.{name}")
            for name in options
            if name not in _OPTIONS
        ]
        for name in _PROVIDED:
            if name in test.row:
                message = "every target is asked; `where` selects cases by metadata.providers"
                changes.append(test.place.at(name).replaced(message))
        return changes


def _provider_name(stated: JsonValue) -> str:
    """How a configuration calls a provider: by its label, else by its id."""
    row = objects(stated)
    return str(row.get("label") or row.get("id") or "") if row else str(stated)


def _left(place: ConfigPlace, name: str) -> Change:
    """What a configuration says and nothing takes."""
    if name in _RUNNING:
        return place.at(name).replaced(_HOW)
    return place.at(name).lost(_NO_CASES.get(name, _NO_PLACE))


def _renamed(found: Import, taken: dict[str, JsonObject]) -> Import:
    """The case under an id that no other case has; the same case again keeps its own."""
    if isinstance(found, Refusal):
        return found
    name = first = str(found.row["id"])
    number = 1
    while name in taken and taken[name] != {**found.row, "id": name}:
        number += 1
        name = f"{first}-{number}"
    row = {**found.row, "id": name}
    taken[name] = row
    return Imported(row, found.changes)
