"""Shared by all HTML pages: layout and number filters."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from steelyard.reports import figures
from steelyard.reports.comparison.comparison_text import shift
from steelyard.reports.comparison.comparison_view import ticks_of
from steelyard.reports.html.csv_cells import (
    csv_interval,
    csv_interval_names,
    csv_rate,
    csv_rate_names,
    csv_values,
)
from steelyard.reports.json_view import fields_text, json_line, json_markup
from steelyard.reports.marking import marked
from steelyard.reports.numbers import (
    count,
    dollars,
    mean_text,
    milliseconds,
    p_text,
    percent,
    range_text,
    rate_text,
    share_text,
    signed_points,
)
from steelyard.reports.record.attempt_rows import attempt_rows, span_text
from steelyard.reports.run.look_items import shortened
from steelyard.reports.sentence import sentence
from steelyard.reports.texts import WHOLE, beginning, plain_text, whole
from steelyard.reports.verdict_words import (
    check_word,
    passed_word,
    record_word,
    run_word,
)
from steelyard.reports.word_diff import marked as marked_words
from steelyard.reports.word_diff import only_changes

_HEAT = (0.5, 0.7, 0.85, 0.95)
"""Where the colours of heat tables begin."""


def environment(*packages: str) -> Environment:
    """A template environment with autoescaping and strict undefined names.

    Templates of the packages come first, then those of reports.
    """
    loaders = [PackageLoader(name) for name in (*packages, "steelyard.reports")]
    pages = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "rate": rate_text,
        "mean": mean_text,
        "ms": milliseconds,
        "usd": dollars,
        "count": count,
        "percent": percent,
        "range": range_text,
        "share": share_text,
        "heat": heat_step,
        "p": p_text,
        "shift": shift,
        "signed": signed_points,
        "shorten": shortened,
        "json_tree": json_markup,
        "json_line": json_line,
        "fields_text": fields_text,
        "marked": marked,
        "beginning": beginning,
        "whole": whole,
        "plain": plain_text,
        # A report shows texts as they are; the site has a formatter in its place.
        "markdown": plain_text,
        "sentence": sentence,
    }
    pages.filters.update(filters)
    words: dict[str, Any] = {
        "figures": figures,
        "marked_words": marked_words,
        "only_changes": only_changes,
        "ticks_of": ticks_of,
        "attempt_rows": attempt_rows,
        "attempt_span": span_text,
        "MOST_CHARACTERS": WHOLE,
        "csv_values": csv_values,
        "csv_interval": csv_interval,
        "csv_interval_names": csv_interval_names,
        "csv_rate": csv_rate,
        "csv_rate_names": csv_rate_names,
        "check_word": check_word,
        "passed_word": passed_word,
        "record_word": record_word,
        "run_word": run_word,
    }
    pages.globals.update(words)
    return pages


def heat_step(rate: float) -> int:
    """The colour of a rate in a heat table: 0 is the lowest, 4 that of 95 % and more."""
    return bisect_right(_HEAT, rate)
