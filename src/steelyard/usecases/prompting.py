"""What a target is asked for a case."""

from __future__ import annotations

from dataclasses import replace

from steelyard.contracts.legal_eval.policies import Policies
from steelyard.contracts.legal_eval.prompting import policy_messages
from steelyard.engine.prompt_template import PromptTemplate
from steelyard.engine.prompts import build_prompt
from steelyard.model.case import Case
from steelyard.ports import Prompt


def prompt_of(policies: Policies, template: PromptTemplate | None, case: Case) -> Prompt:
    """A case with a type of task by its policy, others as they stand; a template is around it."""
    if case.task_type is not None:
        messages = policy_messages(case, policies.of(case))
        case = replace(case, input_messages=messages, context="")
    return template.prompt(case) if template else build_prompt(case)
