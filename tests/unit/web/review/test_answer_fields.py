"""Answers as the fields of a form."""

from __future__ import annotations

import pytest

from fakes.annotated_desk import EVERY
from steelyard.errors import InvalidError
from steelyard.reports.question_form import question_form
from steelyard.web.review.answer_fields import answers_in, revision_in


def test_a_form_becomes_the_answers_that_are_stored() -> None:
    form = question_form(EVERY)
    assert form
    fields = {
        "trace.yes": "0",
        "trace.level": "3",
        "trace.cent": "many",
        "trace.kind": "first",
        "trace.area": "",
        "trace.tags.1": "rude",
        "trace.note": " \n",
        "turn_2.turn_tags.none": "",
        "turn_2.turn_note": "hm",
        "turn_3.turn_yes": "1",
        "token": "t",
    }

    assert answers_in(fields, form, turns=2) == {
        "trace": {"yes": 0, "level": 3, "cent": "many", "kind": "first", "tags": ["rude"]},
        "turns": {"turn_2": {"turn_tags": [], "turn_note": "hm"}},
    }


def test_a_form_says_which_revision_it_changes() -> None:
    assert revision_in({"revision": "7"}) == 7
    for wrong in ({}, {"revision": "-1"}, {"revision": "x"}):
        with pytest.raises(InvalidError, match="revision"):
            revision_in(wrong)
