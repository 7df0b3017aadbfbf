from __future__ import annotations

import pytest

from steelyard.model.reference import Reference, exact_name, exact_version, release_numbers


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("rubric/basic@1.2", Reference(kind="rubric", id="basic", version="1.2")),
        ("judge/accuracy@1.0.0", Reference(kind="judge", id="accuracy", version="1.0.0")),
        (
            "judge/a.b_c-d@1.0.0-rc.1+x",
            Reference(kind="judge", id="a.b_c-d", version="1.0.0-rc.1+x"),
        ),
        ("rubric/basic", Reference(kind="rubric", id="basic")),
        ("rubric/7", Reference(kind="rubric", id="7")),
    ],
)
def test_a_reference_is_read_and_written_the_same(text: str, reference: Reference) -> None:
    assert Reference.parse(text) == reference
    assert str(reference) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "basic",
        "rubric/",
        "rubric/@1",
        "rubric/basic@",
        "dataset/basic@1",
        "Rubric/basic",
        "rubric/../secret",
        "rubric/.hidden",
        "rubric/a/b",
        "rubric/basic@1 ",
        "rubric/basic@1\n",
        " rubric/basic",
        "rubric/bäsic",
    ],
)
def test_another_text_is_no_reference(text: str) -> None:
    assert Reference.parse(text) is None


@pytest.mark.parametrize(
    ("version", "exact", "numbers"),
    [
        ("1.2", "1.2.0", (1, 2, 0)),
        ("1.2.3", "1.2.3", (1, 2, 3)),
        ("10.20", "10.20.0", (10, 20, 0)),
        ("1.2-rc.1", "1.2.0-rc.1", None),
        ("1.2.3-rc.1+b-7", "1.2.3-rc.1+b-7", None),
        ("1.2+build-7", "1.2.0+build-7", (1, 2, 0)),
    ],
)
def test_a_version_is_made_exact_and_compared_by_numbers(
    version: str, exact: str, numbers: tuple[int, ...] | None
) -> None:
    assert exact_version(version) == exact
    assert release_numbers(exact) == numbers


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("rubric/basic@1.2", "rubric/basic@1.2.0"),
        ("judge/fair@1.2.0", "judge/fair@1.2.0"),
        ("judge/fair@1.2-rc.1", "judge/fair@1.2.0-rc.1"),
        ("rubric/basic", "rubric/basic"),
        ("rubric/agent-quality-v2", "rubric/agent-quality-v2"),
        ("verdict", "verdict"),
        ("basic@1.2", "basic@1.2"),
        ("", ""),
    ],
)
def test_references_that_mean_the_same_have_one_exact_name(name: str, exact: str) -> None:
    assert exact_name(name) == exact
