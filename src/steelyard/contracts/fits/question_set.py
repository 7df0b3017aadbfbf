"""Cases as contract 4's dataset can hold them."""

from __future__ import annotations

from steelyard.contracts.fits.fit import Carrier, Fit, Fitted, Way, one_prompt
from steelyard.model.case import Case
from steelyard.model.conversion import Refusal
from steelyard.model.message import Message

_TO = "question_set"


def fit_question_set(case: Case, way: Way) -> Fit:
    """A case with one input, criteria in words, one answer, expectations and a rubric's name."""
    carrier = Carrier(case, way)
    prompt = one_prompt(carrier, _TO)
    if isinstance(prompt, Refusal):
        return prompt
    answers = carrier.first_answer()
    carrier.lose("criteria", case.criteria, f"{_TO} has criteria in words, without weights")
    carrier.lose_grading(case.evaluators)
    carrier.keep_labels("tags", "conversation_id", "task_type")
    carrier.keep_extra()
    fitted = Case(
        id=case.id,
        dataset=case.dataset,
        input_messages=(Message(role="user", content=prompt),),
        reference_answers=answers,
        expected_outcome=case.expected_outcome,
        expected=case.expected,
        rubric_ref=case.rubric_ref,
        bundle=case.bundle,
        metadata=carrier.metadata,
    )
    return Fitted(fitted, tuple(carrier.changes))
