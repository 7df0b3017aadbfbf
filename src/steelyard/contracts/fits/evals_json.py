"""Cases as `evals.json` files can hold them, and their inline checks as evaluators."""

from __future__ import annotations

from typing import cast

from steelyard.contracts.evals_json.assertions import TYPES
from steelyard.contracts.fits.fit import Carrier, Fit, Fitted, Way, one_prompt
from steelyard.model.case import Case
from steelyard.model.conversion import Refusal
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message

_TO = "evals_json"
_ANY = "must_contain_any"
_NONE = "must_not_contain"
_KINDS = {"icontains", "icontains_any"}
_STATEMENTS = "rubric"


def fit_evals_json(case: Case, way: Way) -> Fit:
    """A case with one prompt, an outcome in words, and phrases to look for."""
    carrier = Carrier(case, way)
    prompt = one_prompt(carrier, _TO)
    if isinstance(prompt, Refusal):
        return prompt
    evaluators = _inline(carrier)
    carrier.lose("criteria", case.criteria)
    carrier.lose("rubric_ref", case.rubric_ref)
    carrier.lose_expected()
    outcome = _outcome(carrier)
    carrier.keep_labels("tags", "conversation_id", "task_type", "bundle")
    carrier.keep_extra()
    fitted = Case(
        id=case.id,
        dataset=case.dataset,
        input_messages=(Message(role="user", content=prompt),),
        expected_outcome=outcome,
        evaluators=evaluators,
        extra={"metadata": carrier.metadata} if carrier.metadata else {},
    )
    return Fitted(fitted, tuple(carrier.changes))


def as_eval_cases(evaluator: Evaluator) -> Evaluator | None:
    """The evaluator of eval cases that asks the same of an answer, if there is one."""
    if evaluator.type in {_STATEMENTS, *TYPES}:
        return evaluator
    if evaluator.type not in {_ANY, _NONE}:
        return None
    settings: JsonObject = {"value": evaluator.settings["phrases"], "required": True}
    if evaluator.type == _NONE:
        settings["negate"] = True
    return Evaluator(name=evaluator.name, type="icontains_any", settings=settings)


def _outcome(carrier: Carrier) -> str:
    """What a good answer is, in words: the outcome, else the reference answer."""
    outcome, answers = carrier.case.expected_outcome, carrier.first_answer()
    if outcome or not answers:
        carrier.lose("reference_answers", answers, "expected_output holds the outcome")
        return outcome
    carrier.move("reference_answers", "stands as expected_output")
    return answers[0]


def _inline(carrier: Carrier) -> tuple[Evaluator, ...]:
    """The evaluators that ask for phrases in any case and must pass; the others are lost."""
    wanted: list[JsonValue] | None = None
    unwanted: list[JsonValue] = []
    lost: list[Evaluator] = []
    for evaluator in carrier.case.evaluators:
        phrases = _phrases(evaluator)
        if phrases and evaluator.settings.get("negate"):
            unwanted.extend(phrases)
        elif phrases and wanted is None:
            wanted = phrases
        else:
            lost.append(evaluator)
    carrier.lose_grading(tuple(lost))
    made = ((_ANY, wanted), (_NONE, unwanted))
    return tuple(
        Evaluator(name=kind, type=kind, settings={"phrases": phrases, "required": True})
        for kind, phrases in made
        if phrases
    )


def _phrases(evaluator: Evaluator) -> list[JsonValue] | None:
    if evaluator.type not in _KINDS or evaluator.settings.get("required") is not True:
        return None
    value = evaluator.settings.get("value")
    return cast(list[JsonValue], value if isinstance(value, list) else [value])
