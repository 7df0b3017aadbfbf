"""One question to a judge: the call, the reply, and one more try where it is unusable."""

from __future__ import annotations

import re
import unicodedata

from msgspec.structs import replace

from steelyard.errors import TargetError, TemplateError
from steelyard.judging.delimiters import harmless
from steelyard.judging.ladder import Reading, lowest, no_answer, read_reply
from steelyard.judging.prompting import judge_call, order_seed
from steelyard.judging.questions_asked import Answered, AskedQuestion, FieldAnswer
from steelyard.model.judgement import Asker, Reply

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
    }
)
_GAP = re.compile(r"\[?\.{3,}\]?")
_EDGES = " \"'.,;:"
_PLAIN_EDGES = f"{_EDGES}`\t\r\n"
_ROLE_SIGNS = frozenset("<[|")
"""What may begin a token into which a space is put."""


async def ask_for(asker: Asker, asked: AskedQuestion) -> Answered:
    """What the judge answers; a failed call or an unusable reply is an answer without a value.

    A reply that cannot be used is asked for once more, with what is wrong with it; a refusal is
    not. It raises nothing for what a judge, its endpoint or its template does.
    """
    seed = order_seed(asker, asked)
    try:
        reply = await asker.ask(judge_call(asker, asked, seed))
    except (TargetError, TemplateError) as error:
        return _failed(asked, seed, error)
    reading = read_reply(reply, asked.fields)
    if reading.complaint:
        reply, reading = await _asked_again(asker, asked, seed, reply, reading)
    answers = {key: _checked(answer, asked) for key, answer in reading.answers.items()}
    return Answered(
        asked=asked,
        answers=answers,
        rung=lowest([answer.rung for answer in answers.values()]),
        seed=seed,
        fingerprint=reply.fingerprint,
        target=reply.target,
        model=reply.model,
        is_enforced=reply.is_enforced,
        cost_usd=reply.cost_usd,
    )


async def _asked_again(
    asker: Asker, asked: AskedQuestion, seed: int, reply: Reply, first: Reading
) -> tuple[Reply, Reading]:
    """The second reply; what the first one answered stands, and so does all if the call fails."""
    try:
        second = await asker.ask(judge_call(asker, asked, seed, first.complaint))
    except TargetError:
        return reply, first
    read = read_reply(second, asked.fields).answers
    answers = {
        key: answer if answer.reason in {None, "cannot_judge"} else _later(read[key])
        for key, answer in first.answers.items()
    }
    costs = [one.cost_usd for one in (reply, second) if one.cost_usd is not None]
    return replace(second, cost_usd=sum(costs) if costs else None), Reading(answers)


def _later(answer: FieldAnswer) -> FieldAnswer:
    return replace(answer, rung=lowest((answer.rung, "asked_again")))


def _checked(answer: FieldAnswer, asked: AskedQuestion) -> FieldAnswer:
    return replace(answer, evidence_found=is_quoted(answer.evidence, asked.quotable))


def _failed(asked: AskedQuestion, seed: int, error: TargetError | TemplateError) -> Answered:
    code = error.code if isinstance(error, TargetError) else "invalid_template"
    return Answered(
        asked=asked,
        answers={one.key: no_answer(one, code, str(error)) for one in asked.fields},
        rung="unscored",
        seed=seed,
    )


def is_quoted(evidence: str, text: str) -> bool | None:
    """Whether a quote is in a text; None where nothing is quoted.

    White space, the kinds of quotes and dashes, and case do not count. `...` stands for
    anything: what is before and behind it must be there, in this order.
    """
    if _stands_in(evidence, text):
        return True
    parts = [part.strip(_EDGES) for part in _GAP.split(_folded(evidence))]
    parts = [part for part in parts if part]
    if not parts:
        return None
    haystack, place = _folded(text), 0
    for part in parts:
        place = haystack.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _stands_in(evidence: str, text: str) -> bool:
    """Whether a quote is there word for word, where nothing around it could be folded into it."""
    if (
        not (evidence.isascii() and text.isascii())
        or "..." in evidence
        or _ROLE_SIGNS.intersection(evidence)
    ):
        return False
    plain = evidence.strip(_PLAIN_EDGES)
    return bool(plain) and plain in text


def _folded(text: str) -> str:
    same = unicodedata.normalize("NFKC", harmless(text)).translate(_QUOTES).casefold()
    return " ".join(same.split())
