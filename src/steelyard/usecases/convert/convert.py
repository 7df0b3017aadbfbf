"""Convert a dataset to another contract and report what could not be converted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.fits.fit import Fit, Fitted, Way, wordless
from steelyard.contracts.fits.fitting import fit
from steelyard.contracts.fits.header import fit_header
from steelyard.contracts.legal_eval.policies import built_in_policies
from steelyard.contracts.legal_eval.prompting import choice_lines, policy_messages
from steelyard.engine.prompts import build_prompt
from steelyard.errors import ConflictError, InvalidError, argument
from steelyard.formats.names import did_you_mean
from steelyard.model.case import Case
from steelyard.model.conversion import Change, Conversion, Outcome, Refusal
from steelyard.model.message import Message
from steelyard.usecases.convert.conversion_output import (
    Output,
    OutputDraft,
    check_output,
    open_output,
)
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.convert_labels import convert_labels
from steelyard.usecases.convert.convert_targets import convert_targets
from steelyard.usecases.convert.convert_traces import convert_traces
from steelyard.usecases.convert.import_rows import row_intake
from steelyard.usecases.convert.intake import (
    Beside,
    Intake,
    IntakeCandidate,
    contract_intake,
    place_of,
    refusal,
)
from steelyard.usecases.convert.output_forms import FORMS, LABELS, RESPONSES, TARGETS
from steelyard.usecases.convert.sources import SOURCES
from steelyard.usecases.convert.tally import Tally

__all__ = ["ConvertOptions", "ConvertPorts", "convert"]


def sources(contracts: Contracts) -> tuple[str, ...]:
    """The names of source formats."""
    return (*SOURCES, *contracts.datasets)


_FORMS = {RESPONSES: convert_traces, TARGETS: convert_targets, LABELS: convert_labels}
_CHOICES = (
    Change("choices", "stand in the prompt", is_lost=False),
    Change("correct_choice_ids", "stand as the reference answer", is_lost=False),
)
_UNSHOWN = Change("attachments", "a document that is not there, or is no text, is not shown")


def convert(ports: ConvertPorts, options: ConvertOptions) -> Conversion:
    """Write the dataset in the other contract; without any case, nothing is written."""
    if options.to in FORMS:
        return _FORMS[options.to](ports, options)
    path = _checked(ports, options)
    to = ports.contracts[options.to]
    intake = _intake(ports, options)
    header, changes = intake.header, list[Change]()
    if header.contract != to.name:
        source = ports.contracts.get(header.contract)
        header, changes = fit_header(header, source, to, path.name.partition(".")[0])
    tally = Tally(is_bounded=not intake.names_each)
    beside = Beside({})
    tally.change("", (*intake.changes, *changes))
    with ExitStack() as stack:

        def draft(at: Path) -> OutputDraft:
            made = ports.scratch() if options.output is None else ports.draft(at)
            stack.callback(made.discard)
            return made

        output = open_output(path, to, header, draft)
        way = Way(intake.contract, to, header.id)
        for candidate in intake.candidates():
            _carry(candidate, way, options, output, tally)
        output.finish()
        _drop_rejected(output, ports, path, way, tally)
        if intake.beside is not None:
            beside = intake.beside()
            tally.change("", beside.changes)
        files: tuple[str, ...] = ()
        if tally.emitted:
            files = (*_write_beside(ports, beside), *_settle(ports, options, output, path))
    made = tally.conversion(str(options.source), intake.name, options.to)
    targets = beside.targets if files else ()
    return replace(made, files=files, targets=targets, is_graded=beside.is_graded)


def _write_beside(ports: ConvertPorts, beside: Beside) -> tuple[str, ...]:
    """Write the files that belong to the cases; they come first."""
    for path, data in beside.files.items():
        draft = ports.replacing(path)
        draft.write(data)
        draft.settle()
    return tuple(str(path) for path in beside.files)


def _checked(ports: ConvertPorts, options: ConvertOptions) -> Path:
    """The path of the result; raises RequestError for a request that cannot be served."""
    _check_name("to", options.to, (*ports.contracts.writable, *FORMS))
    if options.made_from is not None:
        _check_name("made_from", options.made_from, sources(ports.contracts))
    to = ports.contracts[options.to]
    known = to.extensions
    if options.output is None:
        folder = options.source.parent
        return folder / f"stdout{known[0]}"
    if options.output.suffix.lower() not in known:
        listed = " or ".join(known)
        raise InvalidError(
            f"{options.to} is written to {listed}; {argument('output')} names {options.output}"
        )
    taken = [options.output]
    if to.sidecar and options.output.suffix.lower() == ".jsonl":
        taken.append(options.output.with_suffix(".yaml"))
    for path in taken:
        if ports.workspace.is_file(path) and not options.force:
            raise ConflictError(f"{path} exists; {argument('force')} writes over it")
    return options.output


def _check_name(given: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        hint = did_you_mean(name, known)
        meant = f" ({hint})" if hint else ""
        raise InvalidError(
            f"{argument(given)} {name}: there is no such form{meant}; {', '.join(known)}"
        )


def _intake(ports: ConvertPorts, options: ConvertOptions) -> Intake:
    name = options.made_from
    if name is None or name in ports.contracts.datasets:
        for given in ("names", "split"):
            if getattr(options, given):
                raise InvalidError(
                    f"{argument(given)} is for tables; name one with {argument('made_from')}"
                )
        return contract_intake(ports.workspace, ports.contracts, options.source, name)
    return row_intake(ports, options)


def _carry(
    candidate: IntakeCandidate, way: Way, options: ConvertOptions, output: Output, tally: Tally
) -> None:
    """Add one candidate to the output, or count its refusal."""
    tally.read += 1
    found, changes = candidate.found, candidate.changes
    if isinstance(found, Case):
        fitted = _fitted(found, way, options)
        if isinstance(fitted, Fitted):
            found, changes = fitted.case, (*changes, *fitted.changes)
        else:
            found = fitted
    if isinstance(found, Refusal):
        tally.refuse(candidate.label, found)
        return
    output.add(found)
    tally.emit(candidate.label, changes)


def _fitted(case: Case, way: Way, options: ConvertOptions) -> Fit:
    if options.flatten and way.to.has_one_prompt:
        if (refused := wordless(case, way.to.name)) is not None:
            return refused
        case, changes = _flattened(case)
        made = fit(case, way)
        if isinstance(made, Fitted):
            made = Fitted(made.case, (*made.changes, *changes))
    else:
        made = fit(case, way)
    if isinstance(made, Refusal) or not way.to.missing:
        return made
    extension = options.output.suffix.lower() if options.output else way.to.extensions[0]
    return way.to.part("missing")(made.case, extension) or made


def _flattened(case: Case) -> tuple[Case, tuple[Change, ...]]:
    """A case with the text that a target would be shown as its prompt, and the changes."""
    unshown = any(attachment.text is None for attachment in case.attachments)
    changes = (_UNSHOWN,) if unshown else ()
    if case.task_type:
        case = replace(case, input_messages=policy_messages(case, built_in_policies().of(case)))
        changes += _CHOICES if case.choices else ()
        answers = case.reference_answers or _correct_choices(case)
        shown = replace(case, context="", attachments=(), reference_answers=answers)
        case = replace(shown, choices=(), correct_choice_ids=())
    text = build_prompt(case).text
    asked = (Message(role="user", content=text),)
    return replace(case, input_messages=asked, context=""), changes


def _correct_choices(case: Case) -> tuple[str, ...]:
    """The correct choices as one reference answer, worded as in the prompt."""
    correct = [choice for choice in case.choices if choice.id in case.correct_choice_ids]
    return (choice_lines(correct),) if correct else ()


def _drop_rejected(
    output: Output, ports: ConvertPorts, path: Path, way: Way, tally: Tally
) -> None:
    """Leave out cases that our own reader refuses; the rest must be valid."""
    if not tally.emitted:
        return
    check = partial(check_output, output, ports.workspace, path, ports.contracts, way.to.name)
    rejected = check()
    outcome: Outcome = "invalid" if way.source.name == way.to.name else "left_out"
    for position, row in rejected:
        tally.take_back(position, place_of(row), refusal(outcome, row.findings))
    if rejected and tally.emitted:
        output.without([position for position, _ in rejected])
        check()


def _settle(
    ports: ConvertPorts, options: ConvertOptions, output: Output, path: Path
) -> tuple[str, ...]:
    if options.output is None:
        with output.drafts[path].read() as stream:
            while chunk := stream.read(1 << 20):
                ports.show(chunk)
        return ()
    # The rows come last: once they are in place, everything is.
    for place in reversed(output.drafts):
        output.drafts[place].settle()
    return tuple(str(place) for place in output.drafts)
