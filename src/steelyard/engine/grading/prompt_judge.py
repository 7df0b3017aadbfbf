"""A judge out of the prompt of an eval case, which has names and rules of its own."""

from __future__ import annotations

import hashlib
import re

from steelyard.contracts.eval_cases.prompts import (
    ANSWERS,
    RESULTS,
    VARIABLES,
    as_template,
    names_in,
)
from steelyard.model.judge import Judge

_ID = re.compile(r"[^a-z0-9]+")
_SHOWN = """
What was asked:
{{question}}

What a good answer achieves:
{{expected_outcome}}

An answer that is known to be good:
{{reference_answer}}

The answer to judge:
{{candidate_answer}}
"""
_JOINED = """\
Several evaluators looked at one answer. From what they found, decide how good the answer is, \
from 0 to 1. Where they disagree, go by the better reasons.

What the evaluators found:
{{EVALUATOR_RESULTS_JSON}}
"""


def prompt_judge(name: str, prompt: str) -> Judge:
    """The judge that a prompt stands for; one that does not show the answer is shown it after."""
    is_shown = any(answer in names_in(prompt) for answer in ANSWERS)
    template = as_template(prompt, VARIABLES)
    return _judge(name, template if is_shown else f"{template}\n{_SHOWN}")


def results_judge(name: str, prompt: str | None) -> Judge:
    """The judge that joins what others found; a prompt that does not show it is shown it after."""
    if prompt is None:
        return _judge(name, _JOINED)
    template = as_template(prompt, (*VARIABLES, RESULTS))
    is_shown = RESULTS in names_in(prompt)
    return _judge(name, template if is_shown else f"{template}\n\n{{{{{RESULTS}}}}}\n")


def _judge(name: str, template: str) -> Judge:
    """A judge whose version is what it says, so that two prompts are never one judge."""
    sha256 = hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest()
    slug = _ID.sub("_", name.lower()).strip("_")
    label = slug if slug[:1].isalpha() else f"judge_{slug}".rstrip("_")
    return Judge(id=label, version=f"0.0.0+{sha256[:12]}", template=template, sha256=sha256)
