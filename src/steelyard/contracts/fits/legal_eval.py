"""Cases as contract 1 can hold them."""

from __future__ import annotations

from steelyard.contracts.fits.fit import Carrier, Fit, Fitted, Way, wordless
from steelyard.model.case import Case, Criterion
from steelyard.model.conversion import Refusal
from steelyard.model.evaluator import RubricItem

_TO = "legal_eval"


def fit_legal_eval(case: Case, way: Way) -> Fit:
    """A case with a conversation of texts, graded by choices, criteria or reference answers."""
    carrier = Carrier(case, way)
    refused = wordless(case, _TO) or _unasked(case)
    if refused:
        return refused
    criteria = case.criteria or _criteria(carrier)
    answers = carrier.answers()
    task_type = _task_type(case, criteria, answers)
    if task_type is None:
        reason = f"nothing to grade by: {_TO} needs choices, criteria or a reference answer"
        return Refusal("left_out", reason)
    if task_type == "mcq":
        carrier.lose("reference_answers", answers, "an mcq row has none")
        answers = ()
    carrier.lose("expected_outcome", case.expected_outcome)
    carrier.lose_expected()
    carrier.lose("rubric_ref", case.rubric_ref)
    carrier.lose_grading(case.evaluators[1:] if case.rubrics else case.evaluators)
    carrier.keep_labels("tags", "conversation_id", "bundle")
    carrier.keep_extra()
    fitted = Case(
        id=case.id,
        dataset=case.dataset,
        task_type=task_type,
        input_messages=carrier.texts_only(case.input_messages, "input_messages"),
        context=case.context,
        attachments=case.attachments,
        reference_answers=answers,
        choices=case.choices,
        correct_choice_ids=case.correct_choice_ids,
        criteria=criteria if task_type == "rubric_qa" else (),
        metadata=carrier.metadata,
    )
    return Fitted(fitted, tuple(carrier.changes))


def _unasked(case: Case) -> Refusal | None:
    """Why a conversation cannot be held; nothing where it can."""
    messages = case.input_messages
    why = ""
    if any(message.role == "tool" for message in messages):
        why = f"a message of a tool, which {_TO} cannot hold"
    elif not messages or messages[-1].role != "user":
        why = f"the last message is not the user's, and {_TO} asks with it"
    elif any(not message.text.strip() for message in messages):
        why = f"a message without a text, which {_TO} cannot hold"
    return Refusal("left_out", why) if why else None


def _criteria(carrier: Carrier) -> tuple[Criterion, ...]:
    """The rubric items of an eval case as criteria."""
    items = carrier.case.rubrics
    if items:
        carrier.move("rubrics", "stand as the rubric of the row")
        is_gate = any(item.required for item in items)
        carrier.lose("rubrics.required", is_gate, "no criterion of a row can fail it alone")
    return tuple(_criterion(item) for item in items)


def _criterion(item: RubricItem) -> Criterion:
    return Criterion(id=item.id, title=item.description, weight=item.weight, extra=item.extra)


def _task_type(
    case: Case, criteria: tuple[Criterion, ...], answers: tuple[str, ...]
) -> str | None:
    """What a row is graded by, the strongest first."""
    if case.choices and case.correct_choice_ids:
        return "mcq"
    if criteria:
        return "rubric_qa"
    return "reference_qa" if any(answer.strip() for answer in answers) else None
