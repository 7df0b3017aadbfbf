"""Cases as contract 5 can hold them."""

from __future__ import annotations

from steelyard.contracts.fits.evals_json import as_eval_cases
from steelyard.contracts.fits.fit import Carrier, Fit, Fitted, Way
from steelyard.model.case import Attachment, Case, Criterion
from steelyard.model.conversion import Refusal
from steelyard.model.evaluator import UNGRADED, Evaluator, RubricItem
from steelyard.model.json_value import JsonObject
from steelyard.model.message import FileBlock, Message

_TO = "eval_cases"


def fit_eval_cases(case: Case, way: Way) -> Fit:
    """A case with a conversation, a reference, a goal in words, rubrics and evaluators."""
    if case.choices:
        return Refusal("left_out", f"the question needs its choices, and {_TO} has none")
    carrier = Carrier(case, way)
    rubrics = _rubrics(carrier)
    first = (Evaluator(name="rubric", type="rubric", rubrics=rubrics),) if rubrics else ()
    carrier.lose("rubric_ref", case.rubric_ref)
    carrier.lose_expected()
    answers = carrier.first_answer()
    carrier.keep_labels("task_type", "bundle")
    carrier.keep_extra()
    fitted = Case(
        id=case.id,
        dataset=case.dataset,
        input_messages=_asked(carrier),
        expected_messages=tuple(Message(role="assistant", content=text) for text in answers),
        expected_outcome=case.expected_outcome,
        conversation_id=case.conversation_id,
        tags=case.tags,
        evaluators=(*first, *_evaluators(carrier, way.source.name)),
        rubrics=rubrics,
        metadata=carrier.metadata,
    )
    return Fitted(fitted, tuple(carrier.changes))


def missing(case: Case, extension: str) -> Refusal | None:
    """Why a form of the contract cannot hold a case; YAML asks for less than JSONL."""
    if case.expected_outcome:
        return None
    if extension == ".jsonl":
        reason = f"no expected_outcome, which {_TO} asks for in JSONL; write .yaml instead"
        return Refusal("left_out", reason)
    if case.expected_messages or case.evaluators or case.evaluator == UNGRADED:
        return None
    reason = f"nothing to grade by: {_TO} needs an outcome, a reference, rubrics or evaluators"
    return Refusal("left_out", reason)


def _evaluators(carrier: Carrier, source: str) -> tuple[Evaluator, ...]:
    if source != "evals_json":
        return ()
    known = [as_eval_cases(evaluator) for evaluator in carrier.case.evaluators]
    unknown = [
        evaluator
        for evaluator, same in zip(carrier.case.evaluators, known, strict=True)
        if same is None
    ]
    carrier.lose_grading(tuple(unknown))
    return tuple(evaluator for evaluator in known if evaluator)


def _asked(carrier: Carrier) -> tuple[Message, ...]:
    """The conversation, with the context first and the attachments in its last message."""
    case = carrier.case
    messages = case.input_messages
    if case.attachments:
        carrier.move("attachments", "stand as files in the last message")
        last = messages[-1]
        shown = tuple(_file(attachment) for attachment in case.attachments)
        messages = (
            *messages[:-1],
            Message(role=last.role, content=(*last.blocks, *shown), extra=last.extra),
        )
    if case.context.strip():
        carrier.move("context", "stands as a system message, which is how it is shown")
        messages = (Message(role="system", content=case.context), *messages)
    return messages


def _file(attachment: Attachment) -> FileBlock:
    extra: JsonObject = {
        name: value
        for name, value in (("kind", attachment.kind), ("title", attachment.title))
        if value is not None
    }
    return FileBlock(
        value=attachment.path,
        path=attachment.path,
        text=attachment.text or "",
        extra={**extra, **attachment.extra},
    )


def _rubrics(carrier: Carrier) -> tuple[RubricItem, ...]:
    """Criteria as rubric items, which may not take points away."""
    criteria = carrier.case.criteria
    if any(criterion.weight < 0 for criterion in criteria):
        message = f"{_TO} has no negative weights, and a part of a rubric grades otherwise"
        carrier.lose("criteria", criteria, message)
        return ()
    if criteria:
        carrier.move("criteria", "stand as rubrics")
    described = any(criterion.description for criterion in criteria)
    carrier.lose("criteria.description", described)
    for name in dict.fromkeys(name for criterion in criteria for name in criterion.extra):
        carrier.lose(f"criteria.{name}", value=True)
    return tuple(_item(criterion) for criterion in criteria)


def _item(criterion: Criterion) -> RubricItem:
    return RubricItem(
        id=criterion.id, description=criterion.title, weight=criterion.weight, required=False
    )
