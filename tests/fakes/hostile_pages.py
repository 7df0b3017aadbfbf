"""Texts that try to run, load, cover or restyle something, planted wherever a run keeps texts.

`HOSTILE` is for every page that shows what models, datasets or people wrote. Whatever runs sets
`window.ran`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakes.projects import Project
from fakes.targets import Said, ScriptedTarget
from fakes.trace_sets import batch, sent_span
from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import QueueSource
from steelyard.model.message import Message, OtherBlock, TextBlock, ToolCall
from steelyard.model.trace import Trace
from steelyard.project import open_project
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    flag_item,
    skip_item,
    submit_answers,
)
from steelyard.usecases.review.queues.create_queue import Fill, NewQueue, create_queue
from steelyard.usecases.traces.receive_spans import receive_spans

_BIDI = "\u202e\u2066\u200f\u061c"
HOSTILE: Mapping[str, str] = {
    "script": "<script>window.ran = 1</script>",
    "closed_script": "</script><script>window.ran = 1</script>",
    "closed_tags": "\"'></pre></td></table></main></body><script>window.ran = 1</script>",
    "image_error": "<img src=x onerror='window.ran = 1'>",
    "svg_load": "<svg onload='window.ran = 1'><use href='http://elsewhere.test/x'/></svg>",
    "event_attribute": '" autofocus onfocus="window.ran = 1" x="',
    "details_toggle": "<details open ontoggle='window.ran = 1'>x</details>",
    "iframe": "<iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    "script_link": "[look](javascript:window.ran=1) <a href='javascript:window.ran=1'>here</a>",
    "coded_script_link": "[look](&#106;avascript:window.ran=1) [x](java\tscript:window.ran=1)",
    "data_link": "[look](data:text/html,<script>window.ran=1</script>)",
    "data_image": "![x](data:image/svg+xml,<svg/onload=window.ran=1>)",
    "remote_image": "![x](http://elsewhere.test/pixel.png) <img src='http://elsewhere.test/p'>",
    "style_element": "<style>body, .top { display: none; background: red }</style>",
    "style_attribute": "<div style='position:fixed;inset:0;z-index:99;background:red'>x</div>",
    "style_import": "<link rel=stylesheet href='http://elsewhere.test/a.css'>@import 'x';",
    "base_and_meta": "<base href='http://elsewhere.test/'><meta http-equiv=refresh content=0>",
    "form": "<form action='http://elsewhere.test/'><input name=form_token><button>Go</button>",
    "template": "{{7*7}} {% for x in ().__class__.__base__ %}{{x}}{% endfor %} ${7*7} #{7*7}",
    "bidi": f"{_BIDI}gnorw si siht{_BIDI} and this is right",
    "long_word": "w" * 4000,
    "null": "before\x00after\x07\x1b[31mred",
    "comment": "<!-- --><!--><script>window.ran = 1</script>-->",
    "frame_names": "<main id=main></main><p data-toast>x</p><span data-panel-close>x</span>",
    "markdown_html": "**bold** <b onclick='window.ran=1'>x</b>\n\n```html\n<script>window.ran=1\n",
    "table": "|a|b|\n|-|-|\n|<script>window.ran=1</script>|[x](javascript:window.ran=1)|",
}
"""By what each of them tries."""

_SETTINGS = """\
retry: {max_attempts: 1, backoff_s: [0]}
slices: [tags]
judges: {default: {target: judge}}
targets: {judge: {provider: echo}, scripted: {provider: echo}}
"""
_JUDGE = """\
id: kind
version: 1.0.0
description: "<script>window.ran = 1</script>"
score_type: binary
template: |
  <script>window.ran = 1</script> Is this kind? {{ output }}
"""
GROUP = "hostile_group"
TRACE_SET = "hostile"
QUESTIONS = "hostile-v1"
_ALWAYS = "nothing of what was asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileRun:
    """A run in which everything is hostile, record by record."""

    root: Path
    run_id: str
    other: str
    """A run over the same records, all with one other answer."""
    records: int
    """Two more than there are texts: one has no answer, and one has all texts in one trace."""


def make_hostile_run(root: Path) -> HostileRun:
    """A project with such a run, each record twice."""
    project = Project(root, _SETTINGS)
    texts = [_written(text) for text in HOSTILE.values()]
    project.write("rubrics/hostile.yaml", _rubric(texts))
    project.write("rubrics/hostile-v1.json", json.dumps(_questions(texts)))
    project.write("judges/kind.yaml", _JUDGE)
    rows = [_row(number, text) for number, text in enumerate((*texts, "fails", "all"))]
    dataset = project.cases(rows, "hostile.jsonl")
    script: dict[str, Sequence[Said]] = {
        row["id"]: [_answer(text)] for row, text in zip(rows, HOSTILE.values(), strict=False)
    }
    words = " ".join(texts)
    script[rows[-2]["id"]] = [TargetError("rejected", words)]
    script[rows[-1]["id"]] = [Trace(messages=tuple(map(_said, HOSTILE.values())))]
    project.write("datasets/hostile.jsonl", (root / dataset).read_text(encoding="utf-8"))
    runs: list[str] = []
    # An answer with an image has no score by a judge, and then there would be nothing to compare.
    alike = Trace(messages=(_said(words[:2000]),))
    for answers in (script, {key: [alike] for key in script}):
        judge = ScriptedTarget(name="judge", otherwise=_reply(words))
        ports = project.ports(ScriptedTarget(answers), judge)
        asked = {"rubric": "rubric/hostile@1.0", "repeat": 2, "group_id": GROUP}
        runs.append(Path(project.run(ports, dataset, **asked).folder).name)
    with open_project(root) as opened:
        spans = batch(*(_span(number, text) for number, text in enumerate(texts, start=1)))
        receive_spans(opened.trace_ports(), spans, TRACE_SET)
    project.close()
    return HostileRun(root=root, run_id=runs[0], other=runs[1], records=len(rows))


def make_hostile_queue(root: Path, run_id: str) -> str:
    """A queue with hostile questions and instructions, which two people have answered; its id."""
    texts = [_written(text) for text in HOSTILE.values()]
    about = [
        {"key": f"q{number}", "label": text, "guidance": text} for number, text in enumerate(texts)
    ]
    questions = [
        *({**one, "type": "yes_no"} for one in about[:8]),
        *({**one, "type": "comment", "scope": "turn"} for one in about[8:10]),
        {"key": "why", "label": "Why?", "type": "comment"},
    ]
    rubric = {"name": texts[0], "version": "hostile-v1", "status": "draft", "guidance": texts}
    path = root / "rubrics" / "hostile-v1.json"
    path.write_text(json.dumps({**rubric, "questions": questions}), encoding="utf-8")
    with open_project(root) as project:
        ports = project.queue_ports()
        new = NewQueue(
            name=texts[0],
            source=QueueSource(kind="run", id=run_id),
            fill=Fill(size=6),
            rubric="rubric/hostile-v1",
            reviews_required=2,
            instructions="\n\n".join(texts)[:4000],
        )
        queue_id = create_queue(ports, new).queue.queue_id
        for name, right in (("ann", 1), ("bob", 0)):
            person = Annotator(name=name, has_login=False)
            for text in texts[:2]:
                claimed = claim_item(ports, queue_id, person)
                assert claimed
                claim, item_id = claimed.claim, claimed.claim.item.item_id
                flag_item(ports, item_id, person, "note", text)
                said: JsonObject = {"trace": {"q0": right, "why": "\n".join(texts)[:4000]}}
                given = GivenAnswers(claim.token, claim.draft.revision, said)
                submit_answers(ports, item_id, given, person)
            claimed = claim_item(ports, queue_id, person)
            assert claimed
            skip_item(ports, claimed.claim.item.item_id, claimed.claim.token, texts[2], person)
    return queue_id


def _written(text: str) -> str:
    """A text as datasets may hold it: without control characters, and not too long."""
    return "".join(one if one.isprintable() or one in "\n\t" else "?" for one in text)[:1000]


def _row(number: int, text: str) -> dict[str, Any]:
    name = f"{number} {text}"[:120]
    return {
        "id": name,
        "expected_outcome": text,
        "input_messages": [
            {"role": "system", "content": text},
            {"role": "user", "content": f"{text}\n\nagain: {text}"},
        ],
        "tags": [text[:60]],
    }


def _answer(text: str) -> Trace:
    """A turn with a call of a tool; one that speaks of a remote image has one, too."""
    call = ToolCall(tool=text, id=text, input={text: [text]}, output={text: {text: text}})
    image: JsonObject = {"type": "image_url", "image_url": {"url": "http://elsewhere.test/i.png"}}
    # No judge is shown an image of an answer, so that the others have none.
    more = (OtherBlock(data=image),) if "pixel.png" in text else ()
    blocks = (TextBlock(text=text), OtherBlock(data={"type": text, "value": text}), *more)
    return Trace(
        messages=(Message(role="assistant", content=blocks, name=text, tool_calls=(call,)),),
        latency_ms=5,
        finish_reason=text,
        refusal=text,
        model=text,
        extra={"spans": [{"name": text, "kind": text, "start_ms": 0, "duration_ms": 5}]},
    )


def _said(text: str) -> Message:
    return Message(role="assistant", content=text)


def _reply(words: str) -> str:
    """What the judge says; its evidence is in no trace."""
    parts = {"evidence": words, "reasoning": words, "value": 1}
    return json.dumps({"answers": {"score": parts}})


def _span(number: int, text: str) -> Any:
    named = {"gen_ai.operation.name": text, "gen_ai.request.model": text, "record_id": text}
    return sent_span(number, 1, {**named, "gen_ai.prompt": text, "gen_ai.completion": text})


def _questions(texts: list[str]) -> dict[str, Any]:
    """A question rubric that says every text wherever people read what it says."""
    words = " ".join(texts)
    question = {"label": words, "guidance": words}
    options = [{"value": f"o{number}", "label": text} for number, text in enumerate(texts)]
    return {
        "name": words,
        "version": QUESTIONS,
        "status": "draft",
        "guidance": texts,
        "questions": [
            {"key": "kind", "type": "yes_no", **question},
            {"key": "which", "type": "single_select", "options": options, **question},
            {"key": "why", "type": "comment", **question},
        ],
    }


def _rubric(texts: list[str]) -> str:
    """A rubric of which every check fails or quotes."""
    checks: list[dict[str, Any]] = [
        {"id": f"says_{number}", "kind": "must_contain_any", "phrases": [text, _ALWAYS]}
        for number, text in enumerate(texts[:4])
    ]
    checks.append({"id": "judged", "kind": "llm_judge", "judge_prompt_ref": "judge/kind@1.0"})
    return json.dumps(
        {
            "id": "hostile",
            "version": "1.0.0",
            "description": " ".join(texts),
            "checks": checks,
            "scoring": {"combine": "all_pass"},
        }
    )
