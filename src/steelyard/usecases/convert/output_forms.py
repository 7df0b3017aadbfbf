"""Outputs of a conversion that are no contract: responses, targets and labels of other tools."""

from __future__ import annotations

from steelyard.errors import ConflictError, InvalidError, argument
from steelyard.usecases.convert.conversion_request import ConvertOptions, ConvertPorts
from steelyard.usecases.convert.source import SourceFormat
from steelyard.usecases.convert.sources import SOURCES

RESPONSES = "responses"
"""Recorded traces."""
TARGETS = "targets"
"""Targets of a project file."""
LABELS = "labels"
"""What people said, as a table that `review import` reads."""
FORMS = {RESPONSES: (".jsonl",), TARGETS: (".yaml", ".yml"), LABELS: (".csv",)}
"""The endings of each."""


def form_source(ports: ConvertPorts, options: ConvertOptions) -> SourceFormat:
    """The source of such an output; raises where it cannot be written."""
    source = SOURCES.get(options.made_from or "")
    if source is None or getattr(source, options.to) is None:
        known = [name for name, one in SOURCES.items() if getattr(one, options.to)]
        listed = " or ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
        raise InvalidError(f"{argument('to')} {options.to} needs {argument('made_from')} {listed}")
    if options.flatten or (options.split and options.to != LABELS):
        raise InvalidError(
            f"{argument('split')} and {argument('flatten')} are for datasets; "
            f"{options.to} are written as they are"
        )
    source.check_names(options, source.response_names if options.to != TARGETS else ())
    if options.output is None:
        return source
    endings = FORMS[options.to]
    if options.output.suffix.lower() not in endings:
        raise InvalidError(
            f"{options.to} are written to {' or '.join(endings)}; "
            f"{argument('output')} names {options.output}"
        )
    if ports.workspace.is_file(options.output) and not options.force:
        raise ConflictError(f"{options.output} exists; {argument('force')} writes over it")
    return source
