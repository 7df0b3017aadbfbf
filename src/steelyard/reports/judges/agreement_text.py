"""Agreement as text: every coefficient with its interval and its number of items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.model.question import Answer
from steelyard.model.question_types import QUESTION_TYPES
from steelyard.model.statistics.agreement import (
    PASSED,
    Agreement,
    AgreementSide,
    Asked,
    Disagreement,
    Estimate,
    QuestionAgreement,
    RubricAgreement,
)
from steelyard.reports.findings import Paint, plain, printable
from steelyard.reports.numbers import count, percent
from steelyard.stats.two_raters import FEWEST_WEIGHTED

_SHOWN = 5
NAMES = {
    "tpr": "TPR",
    "tnr": "TNR",
    "agreement": "raw agreement",
    "kappa": "kappa",
    "ac1": "AC1",
    "alpha_nominal": "alpha nominal",
    "alpha_ordinal": "alpha ordinal",
    "alpha_interval": "alpha interval",
    "weighted_kappa": "weighted kappa",
    "spearman": "Spearman",
    "mae": "mean absolute difference",
    "judge_minus_people": "judge minus people",
    "jaccard": "Jaccard",
}
_WORDS = {
    PASSED: ("fail", "pass"),
    **{one.name: one.words for one in QUESTION_TYPES.values() if one.words},
}
NOT_DEFINED = "not defined"
NO_INTERVAL = "no interval"
_SHARES = ("tpr", "tnr", "agreement")
_SIGNED = ("judge_minus_people",)
_WIDTH = max(map(len, NAMES.values()))


def agreement_lines(found: Agreement, paint: Paint = plain, shown: int = _SHOWN) -> Iterator[str]:
    """Every rubric, question by question."""
    for one in found.rubrics:
        yield from _rubric(one, found.run_id, paint, shown)


def _rubric(found: RubricAgreement, run_id: str | None, paint: Paint, shown: int) -> Iterator[str]:
    about = f" × {run_id}" if run_id else ""
    others = found.labels - found.blind
    yield (
        f"{printable(found.rubric)}{about}  {_many(found.labels, 'label')} by "
        f"{_many(found.people, 'person', 'people')}: {count(found.blind)} blind, "
        f"{count(others)} not blind"
    )
    if found.judged_by:
        yield f"  compared with people  {printable(', '.join(found.judged_by))}"
    for note in found.notes:
        yield f"  {paint('note', 'warning')}  {printable(note)}"
    for question in found.questions:
        yield from _question(question, paint, shown)


def _question(found: QuestionAgreement, paint: Paint, shown: int) -> Iterator[str]:
    turn = ", each turn" if found.scope == "turn" else ""
    yield f"  {printable(found.key)}  {found.type}{turn}  {paint(printable(found.label), 'quiet')}"
    if found.people is None:
        yield "    people  no item with blind answers by two or more people"
    else:
        yield from _side("people", found.people, found.type, shown)
    if found.seen is not None:
        yield from _side("people who had seen other answers", found.seen, found.type, shown)
    if found.judge is not None:
        yield from _side(found.beside, found.judge, found.type, shown)
        yield f"    replace a person  {_alternative(found)}"


def _side(name: str, side: AgreementSide, kind: Asked, shown: int) -> Iterator[str]:
    behind = f"{_many(side.answers, 'answer')} of {_many(side.people, 'person', 'people')}"
    yield f"    {name}  {_many(side.items, 'item')}, {behind}{_left_out(side.left_out)}"
    if side.items:
        answers = (
            f"{_answer_text(value, kind)} {count(number)}" for value, number in side.given.items()
        )
        yield f"      {'distribution':<{_WIDTH}}  {printable(', '.join(answers))}"
    for one in side.estimates:
        yield f"      {estimate_text(one)}"
    for option in side.options:
        yield f"      {printable(option.option)}{_left_out(option.left_out)}"
        for one in option.estimates:
            yield f"        {estimate_text(one)}"
    yield from _disagreements(side.disagreements, kind, name, shown)


def estimate_text(found: Estimate) -> str:
    """A coefficient with its interval, its method and its n."""
    name = f"{NAMES.get(found.name, found.name):<{_WIDTH}}"
    return f"{name}  {value_text(found)}  ({found.method}, n = {count(found.n)})"


def value_text(found: Estimate) -> str:
    """A coefficient with its interval, or why there is none."""
    if found.value is None:
        return f"{NOT_DEFINED} ({why_open(found)})"
    if found.low is None or found.high is None:
        return f"{short_text(found)[:-1]}: {why_open(found)}]"
    return short_text(found)


def short_text(found: Estimate) -> str:
    """A coefficient with its interval, if it has one."""
    if found.value is None:
        return NOT_DEFINED
    is_share = found.name in _SHARES
    number = "+.3f" if found.name in _SIGNED else ".3f"
    value = percent(found.value) if is_share else f"{found.value:{number}}"
    if found.low is None or found.high is None:
        return f"{value} [{NO_INTERVAL}]"
    if is_share:
        return f"{value} [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return f"{value} [{found.low:{number}}, {found.high:{number}}]"


def why_open(found: Estimate) -> str:
    """Why a coefficient has no value or no interval; empty where it has both."""
    if found.value is None:
        return "all answers are the same" if found.n else "nothing to compare"
    if found.low is not None and found.high is not None:
        return ""
    if (
        found.name == "weighted_kappa"
        and found.n < FEWEST_WEIGHTED
        and found.method.startswith("Cohen")
    ):
        return (
            f"weighted κ of two raters has one from {FEWEST_WEIGHTED} items on: fewer may miss a "
            "large disagreement by chance"
        )
    return "too few items, or too few that differ"


def left_out_text(number: int, why: str) -> str:
    """How many were left out, and why; the reason begins with the word for several of them."""
    if number == 1:
        what, _, rest = why.partition(" ")
        why = f"{what.removesuffix('s')} {rest.replace('that were', 'that was')}"
    return f"{count(number)} {why}"


def _left_out(left: Mapping[str, int]) -> str:
    if not left:
        return ""
    return "; left out: " + ", ".join(left_out_text(number, why) for why, number in left.items())


def _disagreements(
    found: Sequence[Disagreement], kind: Asked, beside: str, shown: int
) -> Iterator[str]:
    if not found:
        return
    yield f"      {_many(len(found), 'disagreement')}"
    for one in found[:shown]:
        yield f"        {item_text(one)}  {_who(one, kind, beside)}"
    if len(found) > shown:
        yield f"        … and {count(len(found) - shown)} more (--format json lists all)"


def item_text(found: Disagreement) -> str:
    """The name of an item."""
    item = found.item
    repeat = f" repeat {item.repeat}" if item.repeat else ""
    turn = f" turn {item.turn}" if item.turn else ""
    return printable(f"{item.record_id}{repeat}{turn}")


def _who(found: Disagreement, kind: Asked, beside: str) -> str:
    answers = ", ".join(f"{name} {_answer(answer, kind)}" for name, answer in found.people.items())
    judge = "" if found.judge is None else f"; {beside} {_answer(found.judge, kind)}"
    return printable(answers + judge)


def _answer(answer: Answer, kind: Asked) -> str:
    if isinstance(answer, tuple):
        return f"[{', '.join(answer)}]"
    words = _WORDS.get(kind)
    return words[answer] if words and isinstance(answer, int) else str(answer)


def _answer_text(value: str, kind: Asked) -> str:
    words = _WORDS.get(kind)
    return words[int(value)] if words else value


def _alternative(found: QuestionAgreement) -> str:
    test = found.alternative
    if test is None:
        return found.no_alternative or "–"
    word = "yes" if test.passed else "no"
    held = round(test.winning_rate * test.people)
    return (
        f"{word}: it does as well as {count(held)} of {_many(test.people, 'person', 'people')} "
        f"(ω {test.winning_rate:.2f}), and agrees with the others at least as often as a person "
        f"on {percent(test.advantage)} of the items (ρ {test.advantage:.2f}); "
        f"{_many(test.items, 'item')}, margin {test.margin:g}"
    )


def _many(number: int, word: str, words: str | None = None) -> str:
    return f"{count(number)} {word if number == 1 else words or word + 's'}"
