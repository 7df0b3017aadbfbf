"""The registry of OpenAI Evals: entries with their graders, samples and templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object, as_text
from steelyard.contracts.importers.openai_messages import messages_of
from steelyard.contracts.importers.source_row import Import, Imported, one_of, wrong
from steelyard.errors import InvalidError, ParseError, UnreadableFileError
from steelyard.formats.records import jsonl_records
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Workspace
from steelyard.usecases.convert.openai_evals.basic import GRADERS, ideals_of
from steelyard.usecases.convert.openai_evals.templates import (
    Template,
    is_rescaled,
    judge,
    read_template,
)
from steelyard.usecases.convert.source import PlacedImports

_MODEL_GRADED = "evals.elsuite.modelgraded.classify:ModelBasedClassify"
_POINTER = b"version https://git-lfs.github.com/spec/"
_MAX_YAML = 16 * 1024 * 1024
_SEVERAL = "the first of several good answers is the reference; metadata keeps all"
_REPLY = "the judge gets the template's prompt, and replies in the form of Steelyard"
_RESCALED = "the scores of the choices are scaled to 0 to 1, the lowest being 0"
_UNSCORED = (
    "the template '{}' counts choices and gives no score, so nothing grades the case; "
    "name a rubric when you run it"
)
_F1 = "the F1 score of words that FuzzyMatch also reports has no counterpart; its accuracy does"


class RegistryEntry(NamedTuple):
    """One eval of a registry file."""

    name: str
    grader: str
    """The class that grades it."""
    args: JsonObject

    @property
    def sample_prefix(self) -> str:
        """How the ids of its samples begin, in logs too."""
        return ".".join(self.name.split(".")[:2])


class _Templates(NamedTuple):
    found: dict[str, JsonObject]
    unread: list[str]
    """Why files of templates cannot be read."""


class EvalRegistry:
    """A file of entries, with the folder that has their data and templates."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        self._workspace = workspace
        self._path = path
        found = _read_yaml(workspace, path)
        self._aliases = {
            as_text(as_object(value).get("id")): name for name, value in found.items()
        }
        self.entries = [
            RegistryEntry(name, as_text(spec.get("class")), as_object(spec.get("args")))
            for name, spec in ((name, as_object(value)) for name, value in found.items())
            if isinstance(spec.get("class"), str)
        ]
        if not self.entries:
            raise UnreadableFileError(
                f"{path}: no entry has a 'class'; name a file of the folder registry/evals"
            )

    def chosen(self, name: str | None) -> list[RegistryEntry]:
        """The entry of that name or alias; without a name all of them."""
        if name is None:
            return self.entries
        found = [one for one in self.entries if name in {one.name, self._aliases.get(one.name)}]
        if not found:
            known = ", ".join(self._aliases.get(one.name, one.name) for one in self.entries)
            raise InvalidError(f"{self._path} has no eval '{name}'; it has {known}")
        return found

    def imports(self, entries: list[RegistryEntry]) -> PlacedImports:
        """The samples of entries as cases; an entry that cannot be kept is one refusal."""
        for entry in entries:
            try:
                make = self._importer(entry)
                path = self._samples_path(entry)
            except ParseError as why:
                yield entry.name, Refusal("left_out", f"{entry.name}: {why}", str(why))
                continue
            for number, (place, sample) in enumerate(self._rows(path)):
                yield f"{entry.name} {place}", _imported(entry, number, sample, make)

    def _importer(self, entry: RegistryEntry) -> Callable[[JsonObject], Imported]:
        if entry.grader == _MODEL_GRADED:
            return self._judged(entry)
        grader = GRADERS.get(entry.grader)
        if grader is None:
            fetched = entry.args.get("dataset")
            if isinstance(fetched, str) and "://" in fetched:
                raise wrong(f"its samples are at {fetched}, and nothing is fetched")
            raise wrong(f"it is graded by a program of its own, {entry.grader}")
        shots = self._shots(entry)

        def make(sample: JsonObject) -> Imported:
            ideals = ideals_of(sample)
            row = _asked(_with_shots(sample.get("input"), shots))
            row |= _expected(ideals)
            row["evaluators"] = [grader(ideals, entry.args)]
            changes = (Change("ideal", _SEVERAL, is_lost=False),) if len(ideals) > 1 else ()
            if entry.grader.endswith(":FuzzyMatch"):
                changes += (Change("f1_score", _F1),)
            return Imported(row, changes)

        return make

    def _judged(self, entry: RegistryEntry) -> Callable[[JsonObject], Imported]:
        if entry.args.get("metaeval"):
            raise wrong("it grades a grader (metaeval), not an answer")
        if entry.args.get("multicomp_n", 1) != 1:
            raise wrong("it compares several answers to one question, and a case has one")
        template = self._template(as_text(entry.args.get("modelgraded_spec")))
        args = as_object(entry.args.get("modelgraded_spec_args"))

        def make(sample: JsonObject) -> Imported:
            row = _asked(sample.get(template.asked))
            if "ideal" in sample:
                row |= _expected(ideals_of(sample))
            if not template.scores:
                message = _UNSCORED.format(template.name)
                return Imported({**row, "evaluator": "none"}, (Change("template", message),))
            row["evaluators"] = [judge(template, sample, args)]
            messages = [_REPLY, *([_RESCALED] if is_rescaled(template) else [])]
            return Imported(
                row, tuple(Change("template", text, is_lost=False) for text in messages)
            )

        return make

    @cached_property
    def _root(self) -> Path:
        """The folder above that holds data or templates."""
        for folder in self._path.resolve().parents:
            if any((folder / name).is_dir() for name in ("data", "modelgraded")):
                return folder
        return self._path.resolve().parent

    def _data(self, name: str) -> Path:
        if "://" in name:
            raise wrong(f"its samples are at {name}, and nothing is fetched")
        here = Path(name)
        path = here if self._workspace.is_file(here) else self._root / "data" / name
        if not self._workspace.is_file(path):
            raise wrong(f"its samples are missing: {path}")
        with self._workspace.open(path) as stream:
            if stream.read(len(_POINTER)) == _POINTER:
                raise wrong(
                    f"{path} is a pointer of Git LFS without its content; run `git lfs pull`"
                )
        return path

    def _samples_path(self, entry: RegistryEntry) -> Path:
        name = entry.args.get("samples_jsonl")
        if not isinstance(name, str):
            raise wrong("it names no samples_jsonl")
        return self._data(name.strip())

    def _rows(self, path: Path) -> Iterator[tuple[str, JsonObject | str]]:
        """The rows of a file with their places; of a line that is none, why."""
        with self._workspace.open(path) as stream:
            for record in jsonl_records(stream):
                yield record.place, record.value or record.fault

    def _shots(self, entry: RegistryEntry) -> list[JsonValue]:
        count = entry.args.get("num_few_shot", 0)
        if not isinstance(count, int) or count < 1:
            return []
        name = as_text(entry.args.get("few_shot_jsonl"))
        if not name:
            raise wrong("it has num_few_shot without a few_shot_jsonl")
        shots: list[JsonValue] = []
        for place, row in islice(self._rows(self._data(name)), count):
            sample = row.get("sample") if isinstance(row, dict) else None
            if not isinstance(sample, list):
                raise wrong(f"{place} of few_shot_jsonl has no 'sample' with messages")
            shots += sample
        return shots

    def _template(self, name: str) -> Template:
        spec = self._templates.found.get(name)
        if spec is None:
            unread = "".join(f"; {why}" for why in self._templates.unread)
            raise wrong(f"no template '{name}' in {self._root / 'modelgraded'}{unread}")
        return read_template(name, spec)

    @cached_property
    def _templates(self) -> _Templates:
        folder = self._root / "modelgraded"
        made = _Templates({}, [])
        for listed in self._workspace.expand([str(folder)]) if folder.is_dir() else ():
            try:
                read = _read_yaml(self._workspace, listed.path)
            except UnreadableFileError as why:
                made.unread.append(str(why))
            else:
                made.found.update((name, as_object(spec)) for name, spec in read.items())
        return made


def _imported(
    entry: RegistryEntry,
    number: int,
    sample: JsonObject | str,
    make: Callable[[JsonObject], Imported],
) -> Import:
    if isinstance(sample, str):
        return Refusal("invalid", sample)
    try:
        made = make(sample)
    except ParseError as why:
        return Refusal("invalid", str(why))
    row = {"id": f"{entry.sample_prefix}.{number}", **made.row}
    rest = {name: value for name, value in sample.items() if name != "input"}
    if not isinstance(rest.get("ideal"), list):
        rest.pop("ideal", None)
    return Imported({**row, "metadata": {**rest, "eval": entry.name}}, made.changes)


def _asked(question: JsonValue) -> JsonObject:
    messages = messages_of(question)
    if not messages:
        raise wrong("nothing says what is asked: the sample needs an 'input'")
    return {"input_messages": [*messages]}


def _with_shots(question: JsonValue, shots: list[JsonValue]) -> JsonValue:
    if not shots:
        return question
    if not isinstance(question, list) or not question:
        raise wrong("few-shot examples need an 'input' of messages")
    return [*question[:-1], *shots, question[-1]]


def _expected(ideals: list[str]) -> JsonObject:
    """The reference of a case; a blank text is none."""
    told = [ideal for ideal in ideals if ideal.strip()]
    row: JsonObject = {}
    if told:
        row["expected_messages"] = [{"role": "assistant", "content": told[0]}]
    if len(told) > 1:
        row["expected_outcome"] = one_of(told)
    return row


def _read_yaml(workspace: Workspace, path: Path) -> JsonObject:
    with workspace.open(path) as stream:
        data = stream.read(_MAX_YAML + 1)
    if len(data) > _MAX_YAML:
        raise UnreadableFileError(f"{path}: the file is larger than 16 MB")
    try:
        value = parse_yaml(data).value
    except ParseError as why:
        line = f":{why.line}" if why.line else ""
        raise UnreadableFileError(f"{path}{line}: {why}") from None
    if not isinstance(value, dict):
        raise UnreadableFileError(f"{path}: an object with evals by name is expected")
    return value
