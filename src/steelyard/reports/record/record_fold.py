"""One record as Markdown: a line with its reason, and its texts in a fold."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.reports.asked_text import expected_text, question_and_context
from steelyard.reports.markdown_text import cut, fenced, html_line
from steelyard.reports.record_name import record_name
from steelyard.reports.verdict_words import row_word
from steelyard.results.predictions import Prediction

_REASON = 300


def record_fold(row: Prediction, *, is_repeated: bool = False) -> Iterator[str]:
    """One record: its verdict and reason, and folded question, expectation and answer."""
    name = html_line(record_name(row.index, row.record_id, row.repeat, is_repeated=is_repeated))
    reason = html_line(cut(row.reason or "no reason given", _REASON))
    word = row_word(row).word
    yield f"<details><summary><b>{name}</b> {html_line(word)}: {reason}</summary>"
    yield ""
    question, _ = question_and_context(row)
    named = (
        ("Question", question),
        ("Expected", expected_text(row)),
        ("Answer", row.model_response),
    )
    for title, text in named:
        if text is None:
            continue
        yield from (title, "", fenced(text) if text else "(empty)", "")
    yield "</details>"
    yield ""
