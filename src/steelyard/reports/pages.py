"""Shared by all HTML pages: layout and number filters."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from steelyard.reports.numbers import (
    count,
    dollars,
    mean_text,
    milliseconds,
    percent,
    rate_text,
)


def environment() -> Environment:
    """A template environment with autoescaping and strict undefined names."""
    pages = Environment(
        loader=PackageLoader("steelyard.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(
        rate=rate_text,
        mean=mean_text,
        ms=milliseconds,
        usd=dollars,
        count=count,
        percent=percent,
    )
    return pages
