"""What all pages have in common: one layout, and numbers as people read them."""

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
    """Templates that escape everything and refuse a name that nothing fills."""
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
