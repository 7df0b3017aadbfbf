"""One prompt for a target: the answer with what it took, or why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import ConfigError, InvalidError
from steelyard.event_loop import run_async
from steelyard.project import open_project
from steelyard.usecases.runs.try_target import MAX_PROMPT, TargetTrial, try_target

_SETTINGS = """\
targets:
  priced: {provider: python, callable: "answers:priced", price: {input: 1, output: 2}}
  broken: {provider: python, callable: "answers:broken"}
  recorded: {provider: recorded, path: r.jsonl}
  framed: {provider: echo, prompt: "Please: {{input}}"}
"""
_ANSWERS = """\
def priced(prompt):
    return {"messages": [{"role": "assistant", "content": "So, mail me@example.org"}],
            "usage": {"input_tokens": 1000, "output_tokens": 500}}

def broken(prompt):
    raise ValueError("no")
"""


def _tried(root: Path, name: str, prompt: str = "How?") -> TargetTrial:
    (root / "steelyard.yaml").write_text(_SETTINGS, encoding="utf-8")
    (root / "answers.py").write_text(_ANSWERS, encoding="utf-8")
    with open_project(root) as project:
        ports, redact = project.run_ports(), project.redactor()
        return run_async(lambda: try_target(ports, redact, name, prompt))


def test_the_answer_is_redacted_and_priced(tmp_path: Path) -> None:
    """The cost follows from tokens and price; personal data is not shown."""
    trial = _tried(tmp_path, "priced")
    assert trial.answer == "So, mail [redacted:email]"
    assert (trial.input_tokens, trial.output_tokens) == (1000, 500)
    assert trial.cost_usd == pytest.approx(0.002)
    assert trial.latency_ms is not None


def test_a_recorded_target_says_what_it_answers(tmp_path: Path) -> None:
    """Nothing was asked, so that no time was measured."""
    (tmp_path / "r.jsonl").write_text('{"record_id": "a", "response_text": "x"}\n')
    trial = _tried(tmp_path, "recorded")
    assert trial.error_code == "no_response"
    assert "the records of its response file alone" in str(trial.message)
    assert trial.latency_ms is None


def test_a_prompt_template_is_filled(tmp_path: Path) -> None:
    """The target is asked as in a run."""
    assert _tried(tmp_path, "framed").answer == "Please: How?"


def test_a_failed_call_has_its_code(tmp_path: Path) -> None:
    """It is no error of the request."""
    trial = _tried(tmp_path, "broken")
    assert trial.answer is None
    assert trial.error_code
    assert "no" in (trial.message or "")


@pytest.mark.parametrize("prompt", ["", "  \n", "x" * (MAX_PROMPT + 1)])
def test_a_prompt_has_text_and_a_limit(tmp_path: Path, prompt: str) -> None:
    """Nothing is asked otherwise."""
    with pytest.raises(InvalidError):
        _tried(tmp_path, "framed", prompt)


def test_an_unknown_target_is_named(tmp_path: Path) -> None:
    """With what is known."""
    with pytest.raises(ConfigError, match="unknown target 'frame'"):
        _tried(tmp_path, "frame")
