"""How the message of an error names the arguments of a request."""

from __future__ import annotations

import pickle

import pytest

from steelyard.cli.terminal import error_text
from steelyard.errors import ConflictError, ParseError, SteelyardError, TargetError, argument

TAKEN = f"a.jsonl exists; {argument('force')} writes over it"


def test_python_reads_the_names_of_arguments() -> None:
    error = ConflictError(TAKEN)

    assert str(error) == f"{error}" == "a.jsonl exists; `force` writes over it"


def test_the_command_line_reads_options() -> None:
    error = ConflictError(f"{argument('names')} and {argument('fail_under_low')}")

    assert error_text(error) == "--map and --fail-under-low"


def test_an_error_lists_the_arguments_that_it_names() -> None:
    error = ConflictError(f"{argument('to')}, {argument('names')}, {argument('to')}, `from`")

    assert error.arguments == ("to", "names")


@pytest.mark.parametrize(
    "error", [SteelyardError(TAKEN), TargetError("c", TAKEN), ParseError(TAKEN, code="c")]
)
def test_every_kind_of_error_is_phrased(error: SteelyardError) -> None:
    assert error.phrased(str.upper) == "a.jsonl exists; FORCE writes over it"


def test_an_error_from_another_process_is_phrased_as_well() -> None:
    error = pickle.loads(pickle.dumps(ConflictError(TAKEN)))

    assert error_text(error) == "a.jsonl exists; --force writes over it"


def test_a_message_is_short_and_can_be_printed() -> None:
    text = str(SteelyardError(f"no run '\ud800{'x' * 1_000_000}'; list them"))

    assert text.startswith("no run '\\ud800xxx")
    assert text.endswith("xxx'; list them")
    assert len(text.encode()) < 11_000


@pytest.mark.parametrize("text", ["", "a `force` b", "--force {force} %s"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert str(SteelyardError(text)) == error_text(SteelyardError(text)) == text
