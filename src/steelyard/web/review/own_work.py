"""What one person has done with each item of a queue, for the list beside the trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import Draft, Flag, ListedItem, ReviewQueue
from steelyard.model.question import QuestionRubric, Scope
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.web.review.item_list import OwnWork


def own_work(
    ports: QueuePorts, queue: ReviewQueue, person: str
) -> Callable[[ListedItem], OwnWork]:
    """The work of a person on an item; a trace is read only where its turns are counted."""
    drafts = {one.item_id: one for one in ports.progress.drafts(queue.queue_id, person)}
    flags: dict[str, list[Flag]] = defaultdict(list)
    for flag in ports.decisions.flags(queue.queue_id):
        if flag.annotator == person:
            flags[flag.item_id].append(flag)
    rubric, source = rubric_of(queue), ports.source(queue.source)

    def turns(item_id: str) -> int:
        item = ports.queues.item(item_id)
        return source.show(item.index, item.repeat).turns

    def work(item: ListedItem) -> OwnWork:
        draft = drafts.get(item.item_id)
        found = OwnWork(draft=draft, flags=flags[item.item_id])
        if draft is None or item.state != "open":
            return found
        about_trace, about_turn = _keys(rubric, "trace"), _keys(rubric, "turn")
        asked = len(about_trace)
        if about_turn:
            asked += len(about_turn) * turns(item.item_id)
        return replace(found, answered=_answered(draft, about_trace | about_turn), asked=asked)

    return work


def _keys(rubric: QuestionRubric, scope: Scope) -> set[str]:
    """The questions that wait for an answer; a comment may be left out."""
    return {key for key, one in rubric.asked(scope).items() if not one.kind.is_free_text}


def _answered(draft: Draft, keys: set[str]) -> int:
    turns = cast("Mapping[str, JsonObject]", draft.answers.get("turns") or {})
    sheets = (cast(JsonObject, draft.answers.get("trace") or {}), *turns.values())
    return sum(len(keys & sheet.keys()) for sheet in sheets)
