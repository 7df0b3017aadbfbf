"""The evaluators of eval cases as checks."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from itertools import chain, count
from typing import Any, TypeAlias, cast

from steelyard.checks.command import Command
from steelyard.checks.contains_all import ContainsAll
from steelyard.checks.cost import Cost
from steelyard.checks.ends_with import EndsWith
from steelyard.checks.equals import Equals
from steelyard.checks.fuzzy_match import FuzzyMatch
from steelyard.checks.is_json import IsJson
from steelyard.checks.latency import Latency
from steelyard.checks.must_contain_any import MustContainAny
from steelyard.checks.regex import flagged_regex
from steelyard.checks.starts_with import StartsWith
from steelyard.engine.grading.evaluator_composite import (
    EvaluatorComposite,
    Joined,
    JoinedByProgram,
    JudgedEvaluatorComposite,
    PassShare,
    WeightedMean,
)
from steelyard.engine.grading.execution_metrics import execution_metrics
from steelyard.engine.grading.graders import Graders, single_judge
from steelyard.engine.grading.prompt_judge import prompt_judge, results_judge
from steelyard.errors import SettingError
from steelyard.formats.json_fields import number_field, object_field, optional_text
from steelyard.judging.rubric_items import RubricItems
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject
from steelyard.model.rubric import PASS_THRESHOLD, Check, JudgedCheck, RubricCheck

AnyCheck: TypeAlias = Check | JudgedCheck
_FRAME = ("required", "negate")
_PROGRAM = ("script", "cwd", "config", "target", "min_score", "threshold", *_FRAME)


class EvaluatorChecks(FrozenStruct, frozen=True):
    """Makes the checks that the evaluators of one case stand for.

    What cannot be made is a SettingError, which names the evaluator.
    """

    graders: Graders
    near: str | None = None
    """The file of the case, from which the folders of programs count."""

    def entries(self, evaluators: Iterable[Evaluator]) -> tuple[RubricCheck, ...]:
        """The checks of several, each with a name of its own."""
        made: dict[str, RubricCheck] = {}
        for evaluator in evaluators:
            name = evaluator.name
            name = free_name(name, made) if name in made else name
            made[name] = self.entry(evaluator, name)
        return tuple(made.values())

    def entry(self, evaluator: Evaluator, name: str = "") -> RubricCheck:
        """The check of an evaluator with its place; under its own name, or a free one."""
        settings = evaluator.settings
        try:
            check = self._check(evaluator)
        except SettingError as wrong:
            raise SettingError(wrong.name, f"evaluator '{evaluator.name}': {wrong}") from None
        return RubricCheck(
            id=name or evaluator.name,
            check=check,
            weight=evaluator.weight,
            required=bool(settings.get("required", False)),
            negate=bool(settings.get("negate", False)),
        )

    def default(self, kind: str) -> RubricCheck:
        """The check of a default evaluator, which has no settings."""
        if kind not in {"llm_judge", "is_json"}:
            raise SettingError(
                "evaluator",
                f"the default evaluator '{kind}' cannot do without settings; list it under "
                "'evaluators' with them",
            )
        return self.entry(Evaluator(name=kind, type=kind))

    def _check(self, evaluator: Evaluator) -> AnyCheck:
        kind = evaluator.type
        if make := _MAKERS.get(kind):
            return make(cast(Any, evaluator.settings))
        match kind:
            case "llm_judge":
                return self._judged(evaluator)
            case "rubric":
                return self._statements(evaluator)
            case "code_judge":
                return self._program(evaluator)
            case "composite":
                return self._composite(evaluator)
            case "execution_metrics":
                return self._limits(evaluator)
            case _:
                return self._of_kind(kind, evaluator.settings)

    def _of_kind(self, kind: str, settings: Mapping[str, Any]) -> Check:
        """A check by the name of its kind, as inline checks have it."""
        if kind not in self.graders.catalog:
            raise SettingError("type", f"{kind} is no type of evaluator")
        known = self.graders.catalog.setting_names(kind)
        own = {name: value for name, value in settings.items() if name in known}
        return self.graders.catalog.make(kind, own)

    def _judged(self, evaluator: Evaluator) -> AnyCheck:
        settings = evaluator.settings
        stated = settings.get("value")
        if evaluator.rubrics:
            return self._statements(evaluator)
        if isinstance(stated, str) and evaluator.prompt is None:
            return self._items(evaluator, (RubricItem(id="rubric-1", description=stated),))
        if evaluator.prompt is None:
            judge = self.graders.judge("accuracy")
        else:
            judge = prompt_judge(evaluator.name, evaluator.prompt)
        setting = self.graders.setting(judge)
        return single_judge(judge, setting, _threshold(evaluator), _target(evaluator))

    def _statements(self, evaluator: Evaluator) -> AnyCheck:
        return self._items(evaluator, evaluator.rubrics)

    def _items(self, evaluator: Evaluator, items: tuple[RubricItem, ...]) -> RubricItems:
        if evaluator.prompt is None:
            judge = self.graders.judge("rubric_items")
        else:
            judge = prompt_judge(evaluator.name, evaluator.prompt)
        threshold = _threshold(evaluator)
        setting = self.graders.setting(judge)
        return RubricItems(
            items=items,
            judge=judge,
            is_grouped=setting.grouped,
            samples=setting.samples,
            threshold=PASS_THRESHOLD if threshold is None else threshold,
            target=_target(evaluator),
        )

    def _program(self, evaluator: Evaluator) -> Command:
        settings = evaluator.settings
        if settings.get("target"):
            raise SettingError(
                "target", "a program cannot ask a judge here; use llm_judge beside it"
            )
        others = {name: value for name, value in settings.items() if name not in _PROGRAM}
        config = {**others, **object_field(settings, "config")}
        threshold = _threshold(evaluator)
        return self._command(
            settings["script"], settings.get("cwd"), config=config or None, threshold=threshold
        )

    def _command(
        self, script: Any, cwd: Any, *, config: JsonObject | None, threshold: float | None
    ) -> Command:
        return Command(
            script=script if isinstance(script, str) else tuple(cast(list[str], script)),
            cwd=cwd,
            config=config,
            threshold=PASS_THRESHOLD if threshold is None else threshold,
            near=self.near,
            programs=self.graders.catalog.programs,
        )

    def _composite(self, evaluator: Evaluator) -> AnyCheck:
        members = self.entries(evaluator.members)
        aggregator = object_field(evaluator.settings, "aggregator")
        threshold = _threshold(evaluator)
        if aggregator["type"] == "llm_judge":
            judge = results_judge(evaluator.name, evaluator.prompt)
            asking = single_judge(judge, self.graders.setting(judge), threshold)
            return JudgedEvaluatorComposite(members=members, judge=asking)
        joined = self._joined(aggregator, threshold)
        is_judged = any(hasattr(member.check, "ask") for member in members)
        made = JudgedEvaluatorComposite if is_judged else EvaluatorComposite
        return made(members=members, joined=joined)

    def _limits(self, evaluator: Evaluator) -> AnyCheck:
        threshold = _threshold(evaluator)
        return execution_metrics(
            evaluator.settings, PASS_THRESHOLD if threshold is None else threshold
        )

    def _joined(self, aggregator: JsonObject, threshold: float | None) -> Joined:
        if aggregator["type"] == "code_judge":
            script, cwd = aggregator["script"], aggregator.get("cwd")
            return JoinedByProgram(self._command(script, cwd, config=None, threshold=threshold))
        if aggregator["type"] == "threshold":
            return PassShare(float(number_field(aggregator, "threshold")))
        weights = cast(dict[str, float], aggregator.get("weights", {}))
        numbers = {name: float(weight) for name, weight in weights.items()}
        return WeightedMean(numbers, PASS_THRESHOLD if threshold is None else threshold)


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or the name with the first number that is not taken."""
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _threshold(evaluator: Evaluator) -> float | None:
    """The score at which an evaluator passes, where it says one."""
    for name in ("threshold", "min_score", "required"):
        stated = evaluator.settings.get(name)
        if isinstance(stated, int | float) and not isinstance(stated, bool):
            return float(stated)
    return None


def _target(evaluator: Evaluator) -> str | None:
    return optional_text(evaluator.settings, "judge_target")


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "contains": lambda s: MustContainAny(phrases=(s["value"],), ignore_case=False),
    "icontains": lambda s: MustContainAny(phrases=(s["value"],)),
    "contains_any": lambda s: MustContainAny(phrases=tuple(s["value"]), ignore_case=False),
    "icontains_any": lambda s: MustContainAny(phrases=tuple(s["value"])),
    "contains_all": lambda s: ContainsAll(phrases=tuple(s["value"]), ignore_case=False),
    "icontains_all": lambda s: ContainsAll(phrases=tuple(s["value"])),
    "starts_with": lambda s: StartsWith(value=s["value"]),
    "ends_with": lambda s: EndsWith(value=s["value"]),
    "fuzzy_match": lambda s: FuzzyMatch(values=tuple(s["value"])),
    "is_json": lambda s: IsJson(),  # noqa: ARG005 - has no settings
    "equals": lambda s: Equals(value=s["value"]),
    "regex": lambda s: flagged_regex(s["value"], s.get("flags", "")),
    "latency": lambda s: Latency(max_ms=s["threshold"]),
    "cost": lambda s: Cost(max_usd=s["budget"]),
}
