"""What the registry holds, in text and JSON."""

from __future__ import annotations

from steelyard.formats.yaml_text import parse_yaml
from steelyard.reports.findings import plain
from steelyard.reports.registry import (
    ListedVersion,
    Shown,
    list_json,
    list_lines,
    shown_json,
    shown_text,
)

FIRST = ListedVersion(
    id="basic",
    version="1.0.0",
    status="published",
    source="rubrics/basic.yaml",
    sha256="0123456789abcdef" * 4,
    published_at="2026-01-15T12:00:00.000+00:00",
)
BROKEN = ListedVersion(id="odd", status="broken", source="rubrics/odd.yaml")
SHOWN = Shown(
    reference="rubric/basic@1.0.0",
    contract="check_rubric",
    listed=FIRST,
    content={"id": "basic", "version": "1.0.0"},
    refers_to=("judge/tone@1.0",),
    used_by=("suite release",),
)


def test_every_version_is_a_line() -> None:
    assert list(list_lines("rubric", [FIRST, BROKEN], plain)) == [
        "basic@1.0.0  published      0123456789ab  2026-01-15 12:00:00  rubrics/basic.yaml",
        "odd          broken                                            rubrics/odd.yaml",
    ]


def test_an_empty_list_says_what_would_fill_it() -> None:
    assert list(list_lines("judge", [], plain)) == [
        "no judge yet; `steelyard judge publish PATH` publishes a version"
    ]


def test_versions_stand_under_their_id() -> None:
    second = ListedVersion(id="basic", version="2.0.0", status="not published", source="x")

    assert list_json([FIRST, second, BROKEN]) == {
        "data": [
            {
                "id": "basic",
                "versions": [
                    {
                        "version": "1.0.0",
                        "status": "published",
                        "sha256": FIRST.sha256,
                        "published_at": FIRST.published_at,
                        "source": "rubrics/basic.yaml",
                    },
                    {
                        "version": "2.0.0",
                        "status": "not published",
                        "sha256": None,
                        "published_at": None,
                        "source": "x",
                    },
                ],
            },
            {
                "id": "odd",
                "versions": [
                    {
                        "version": None,
                        "status": "broken",
                        "sha256": None,
                        "published_at": None,
                        "source": "rubrics/odd.yaml",
                    }
                ],
            },
        ]
    }


def test_the_content_is_yaml_and_all_else_a_comment() -> None:
    text = shown_text(SHOWN)

    assert parse_yaml(text.encode()).value == SHOWN.content
    assert text.splitlines()[:5] == [
        "# rubric/basic@1.0.0: published at 2026-01-15T12:00:00.000+00:00",
        f"# sha256 {FIRST.sha256}",
        "# check_rubric of rubrics/basic.yaml",
        "# refers to judge/tone@1.0",
        "# used by suite release",
    ]
    assert shown_text(
        Shown(reference="r", contract="judge", listed=BROKEN, content={})
    ).startswith("# r: broken\n")


def test_json_holds_everything() -> None:
    assert shown_json(SHOWN) == {
        "reference": "rubric/basic@1.0.0",
        "contract": "check_rubric",
        "status": "published",
        "sha256": FIRST.sha256,
        "published_at": FIRST.published_at,
        "source": "rubrics/basic.yaml",
        "refers_to": ["judge/tone@1.0"],
        "used_by": ["suite release"],
        "content": {"id": "basic", "version": "1.0.0"},
    }
