"""The table of what the server takes to answer."""

from __future__ import annotations

from bench.http_service import HEADS, Row, table


def test_every_figure_has_a_head() -> None:
    row = Row(
        what="status",
        per_s="7,241",
        share="64%",
        cpu="52",
        p50="1.5",
        p95="5.9",
        p99="9.4",
        errors="0",
        rss="111",
    )

    lines = table([row], "527 runs in 60 s.").splitlines()
    heads, rule, figures = (line.strip("|").split("|") for line in lines[-3:])

    assert len(heads) == len(rule) == len(figures) == len(Row._fields)
    assert dict(zip(map(str.strip, heads), map(str.strip, figures), strict=True)) == {
        **dict(zip(HEADS, row, strict=True)),
        "RSS MB": "111",
    }
