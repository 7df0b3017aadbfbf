"""OpenAI Evals: exports of the dashboard and the API, data files, samples of `oaieval`."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.contracts.importers.openai_messages import asked_text, messages_of, text_of
from steelyard.contracts.importers.source_row import (
    CHOICES,
    Import,
    Imported,
    content_id,
    legal_row,
    offered,
    one_of,
    unheld_choices,
    wrong,
)
from steelyard.model.conversion import Change, Refusal
from steelyard.model.json_value import JsonObject, JsonValue

# Under which names items carry what is asked and what a good answer is, the likelier first.
INPUTS = ("messages", "input", "prompt", "question", "query", "user_input", "text")
ANSWERS = (
    *("ideal", "expected_output", "expected", "expected_answer", "correct_answer", "answer"),
    *("reference_answer", "reference", "ground_truth", "correct_label", "label", "target"),
)
GOALS = ("expected_outcome", "criteria")
_NAMES = ("id", "case_id", "item_id")
_ASKED = ("trajectory", "input")
_RESULTS = ("grades", "passes", "grader_samples", "results")
_SEVERAL = "the first of several good answers is the reference; metadata keeps all"
_LOG = ({"spec"}, {"final_report"}, {"event_id", "sample_id", "type"})
_NO_OUTCOME = "legal_eval has no place for it"


def import_openai_evals(
    record: JsonObject, names: Mapping[str, str], legal: str | None = None
) -> list[Import]:
    """One item as an eval case, or as a row of the legal_eval dataset that `legal` names.

    `names` maps our fields to its fields.

    A run's own part, such as its answer, is no part of the case: the same item in two runs is
    the same case.
    """
    if any(mark <= record.keys() for mark in _LOG):
        reason = "an event in the log of a run, not a sample; convert the samples file"
        return [Refusal("skipped", reason, "log")]
    item = item_of(record)
    reader = _Item(item, names)
    asked = reader.asked() or _sampled(record)
    if not asked:
        known = ", ".join(INPUTS)
        raise wrong(
            f"nothing says what is asked: the item has {_listed(item)}, and none of {known}; "
            "map a field of the item to 'input'"
        )
    made = reader.case(asked) if legal is None else reader.legal(asked, legal)
    if isinstance(made, Refusal):
        return [made]
    return [Imported(made, (*reader.changes, *_unsaid(record)))]


def item_of(record: JsonObject) -> JsonObject:
    """The item of a row of an export; any other row is one itself."""
    for name in ("item", "datasource_item"):
        if name in record:
            item = record[name]
            if not isinstance(item, dict):
                raise wrong(f"'{name}' must be an object")
            return item
    return record


def _sampled(record: JsonObject) -> list[JsonObject]:
    """What the target was shown, where only the sample of a run knows it."""
    sample = record.get("sample")
    if not isinstance(sample, dict) or record.get("item") is sample:
        return []
    for name in _ASKED:
        asked = messages_of(sample.get(name))
        if asked:
            return asked
    return []


def _unsaid(record: JsonObject) -> list[Change]:
    """What an export holds beside the items."""
    if "item" not in record and "datasource_item" not in record:
        return []
    changes: list[Change] = []
    sample = record.get("sample")
    if isinstance(sample, dict) and any(sample.get(name) for name in ("outputs", "output")):
        message = "an answer of a run is no part of a case"
        changes.append(Change("sample", message))
    if any(record.get(name) for name in _RESULTS):
        message = "an export has the results of graders, not what they ask; name a rubric instead"
        changes.append(Change("graders", message))
    return changes


class _Item:
    """The fields of one item, sorted into what a case has."""

    def __init__(self, item: JsonObject, names: Mapping[str, str]) -> None:
        self._item = item
        self._names = names
        self._taken: set[str] = set()
        self.changes: list[Change] = []

    def asked(self) -> list[JsonObject]:
        """The messages of the first field that holds any."""
        _, found = self._find("input", INPUTS)
        return messages_of(found)

    def case(self, asked: list[JsonObject]) -> JsonObject | Refusal:
        """The item as an eval case."""
        refused = unheld_choices(offered(self._item), asked_text(asked))
        if refused:
            return refused
        row: JsonObject = {
            "id": self.name(asked),
            "input_messages": [*asked],
            **self.expected(),
        }
        return self._with_rest(row)

    def legal(self, asked: list[JsonObject], dataset: str) -> JsonObject | Refusal:
        """The item as a row of legal_eval, which holds choices and several good answers."""
        contents = [message.get("content") for message in asked]
        texts = [text for text in contents if isinstance(text, str) and text.strip()]
        is_all_text = len(texts) == len(asked)
        if not is_all_text or any("tool_calls" in one or one["role"] == "tool" for one in asked):
            reason = "images, tools and other parts have no place in legal_eval, which holds texts"
            return Refusal("left_out", reason, "parts")
        if asked[-1]["role"] != "user":
            reason = "the last message is not the user's, and legal_eval asks with it"
            return Refusal("left_out", reason, "last message")
        graded = self._legal_grading()
        if isinstance(graded, Refusal):
            return graded
        row = legal_row(self.name(asked), dataset, "", texts[-1])
        if len(asked) > 1:
            row["messages"] = [{"role": one["role"], "content": one["content"]} for one in asked]
        return self._with_rest({**row, **graded})

    def _legal_grading(self) -> JsonObject | Refusal:
        _, answers = self._answers()
        _, goal = self._find("expected_outcome", GOALS)
        if goal:
            self.changes.append(Change("expected_outcome", _NO_OUTCOME))
        if not answers:
            reason = "nothing to grade by: legal_eval needs choices or a reference answer"
            return Refusal("left_out", reason, "grading")
        choices = offered(self._item)
        if not choices:
            return {"task_type": "reference_qa", "reference_answers": [*answers]}
        self._taken.update(name for name in CHOICES if name in self._item)
        correct = [
            str(choice.get("id"))
            for choice in choices
            if {str(choice.get("id")), str(choice["text"])} & {*answers}
        ]
        if not correct:
            raise wrong(f"the answer {answers[0]!r} is none of the choices")
        return {
            "task_type": "mcq",
            "choices": [*choices],
            "correct_choice_ids": [*correct],
        }

    def _with_rest(self, row: JsonObject) -> JsonObject:
        metadata = self.rest()
        return {**row, "metadata": metadata} if metadata else row

    def _answers(self) -> tuple[str, list[str]]:
        """The good answers, and the field that holds them."""
        name, answer = self._find("expected_output", ANSWERS)
        texts = [text_of(each) for each in (answer if isinstance(answer, list) else [answer])]
        return name, [text for text in texts if text]

    def expected(self) -> JsonObject:
        """A good answer, and what it achieves, as far as the item says so."""
        row: JsonObject = {}
        name, answers = self._answers()
        if answers:
            row["expected_messages"] = [{"role": "assistant", "content": answers[0]}]
        _, goal = self._find("expected_outcome", GOALS)
        goals = [goal] if isinstance(goal, str) and goal.strip() else []
        if len(answers) > 1:
            self._taken.discard(name)
            self.changes.append(Change(name, _SEVERAL, is_lost=False))
            goals.append(one_of(answers))
        if goals:
            row["expected_outcome"] = "\n\n".join(goals)
        return row

    def name(self, asked: list[JsonObject]) -> str:
        """The item's own id, else one made of its content and of what is asked."""
        _, name = self._find("id", _NAMES)
        if isinstance(name, str | int) and not isinstance(name, bool) and str(name).strip():
            return str(name)
        return content_id("openai-evals", self._item, [*asked])

    def rest(self) -> JsonObject:
        """The other fields."""
        return {
            name: value
            for name, value in self._item.items()
            if name not in self._taken and name not in _NAMES and not name.startswith("sample.")
        }

    def _find(self, field: str, known: tuple[str, ...]) -> tuple[str, JsonValue]:
        """The first field that holds something, and what."""
        mapped = self._names.get(field)
        if mapped is not None and mapped not in self._item:
            raise wrong(
                f"no field '{mapped}' to map to '{field}'; the item has {_listed(self._item)}"
            )
        for name in (mapped,) if mapped is not None else known:
            value = self._item.get(name)
            if value not in (None, "", []):
                self._taken.add(name)
                return name, value
        return "", None


def _listed(item: JsonObject) -> str:
    return ", ".join(f"'{name}'" for name in list(item)[:8]) or "no fields"
