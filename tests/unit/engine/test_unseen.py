"""What a judge is shown beside texts."""

from __future__ import annotations

import pytest

from steelyard.engine.unseen import Unseen, unseen
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.message import ImageBlock, Message, OtherBlock
from steelyard.model.trace import Trace
from steelyard.model.unsent import MODEL_CARRIES, NOTHING

WEB = "https://pictures.example.com/a.png"
IMAGE = ImageBlock(data={"type": "image"}, url=WEB)
AUDIO = OtherBlock(data={"type": "audio"})


def call(template: str) -> JudgeCall:
    judge = Judge(id="j", version="1.0.0", template=template)
    return JudgeCall(judge=judge, messages=(("user", "Well?"),), schema={}, identity="")


@pytest.mark.parametrize(
    ("template", "shown"),
    [("{{ input }}", 1), ("{{ output }}", 2), ("{{input}} {{output}}", 3), ("{{ expected }}", 0)],
)
def test_the_images_that_a_template_speaks_of_are_shown(template: str, shown: int) -> None:
    made = Unseen((IMAGE,), (IMAGE, IMAGE)).shown_with(call(template), MODEL_CARRIES, omits=False)

    assert len(made.images) == shown
    assert made.messages[0][1].count("sha256") == shown


@pytest.mark.parametrize(
    ("asked", "answered", "carries", "template"),
    [
        (IMAGE, None, NOTHING, "{{ input }}"),
        (AUDIO, None, MODEL_CARRIES, "{{ input }}"),
        (None, IMAGE, MODEL_CARRIES, "{{ output_a }} {{ output_b }}"),
    ],
    ids=["not carried", "no image", "one of two answers"],
)
def test_what_a_judge_cannot_be_shown_is_refused_or_left_out(
    asked: OtherBlock | None, answered: OtherBlock | None, carries: frozenset[str], template: str
) -> None:
    found = Unseen((asked,) if asked else (), (answered,) if answered else ())
    with pytest.raises(TargetError, match="a judge cannot be shown"):
        found.shown_with(call(template), carries, omits=False)

    assert found.shown_with(call(template), carries, omits=True) == call(template)


def test_images_of_an_answer_are_read_and_its_other_blocks_are_for_people() -> None:
    blocks = (
        OtherBlock(data={"type": "image_url", "image_url": {"url": WEB}}),
        OtherBlock(data={"type": "image", "value": "beside.png"}),
        OtherBlock(data={"type": "thinking", "thinking": "Hm."}),
    )
    trace = Trace(messages=(Message(role="assistant", content=blocks),))
    found = unseen(Case(id="a"), trace)

    assert [isinstance(one, ImageBlock) for one in found.answered] == [True, False]
