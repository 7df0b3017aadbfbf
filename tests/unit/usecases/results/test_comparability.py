"""Whether manifests say that two runs measure the same: content decides, not names."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.manifests import manifest
from steelyard.usecases.results.comparability import mismatches_of


def rubric(name: str, sha256: str | None = None, grading: str | None = None) -> dict[str, Any]:
    return {"rubrics": [{"rubric": name, "sha256": sha256, "grading_sha256": grading}]}


def judge(*prints: str, template: str = "t", count: int | None = None) -> dict[str, Any]:
    row = {
        "judge": "judge/a@1.0.0",
        "fingerprints": list(prints),
        "fingerprint": template,
        "fingerprint_count": len(prints) if count is None else count,
    }
    return {"judges": [row]}


def policy(sha256: str) -> dict[str, Any]:
    return {"policies": [{"policy": "prbench_v1", "sha256": sha256}]}


def program(sha256: str) -> dict[str, Any]:
    return {"programs": [{"file": "g.py", "sha256": sha256}, {"file": "h.py", "sha256": "h"}]}


def jury(*templates: str) -> dict[str, Any]:
    rows = [judge("f1", *templates, template=one)["judges"][0] for one in templates]
    return {"judges": rows}


def graders(**revisions: int) -> dict[str, Any]:
    return {"graders": revisions}


def options(**values: Any) -> dict[str, Any]:
    return {"options": values}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({}, {}),
        (rubric("rubric/x@1.0.0", "h1", "g1"), rubric("rubric/x@1.1.0", "h2", "g1")),
        (rubric("rubric/implicit@1.0.0"), rubric("rubric/implicit@1.0.0")),
        (judge("f1", "f2"), judge("f2", "f3")),
        (judge("f1", count=500), judge("f2", count=500)),
        (judge(), judge()),
        (policy("p"), policy("p")),
        (options(pass_threshold=None), options(repeat=1)),
        (graders(equals=2, regex=1), graders(equals=2)),
        (graders(regex=1), {}),
        ({}, policy("p")),
        (program("p"), program("p")),
        ({}, program("p")),
        (jury("t", "u"), jury("u", "t")),
    ],
)
def test_the_same_content_is_the_same_measurement(a: Any, b: Any) -> None:
    assert not list(mismatches_of(manifest(**a), manifest(**b)))


@pytest.mark.parametrize(
    ("a", "b", "what", "said"),
    [
        (
            rubric("rubric/x@1.0.0", "h1", "g1"),
            rubric("rubric/x@1.0.0", "h2", "g2"),
            "rubric",
            "rubric/x@1.0.0 (sha256 g1…)",
        ),
        (
            rubric("rubric/x@1.0.0", "h1"),
            rubric("rubric/x@1.0.0", "h2"),
            "rubric",
            "rubric/x@1.0.0 (sha256 h1…)",
        ),
        (
            rubric("rubric/x@1.0.0", "h1"),
            rubric("rubric/x@1.0.0"),
            "rubric",
            "rubric/x@1.0.0 (sha256 h1…)",
        ),
        (
            rubric("rubric/x@1.0.0"),
            rubric("rubric/x@1.0.0", "h1"),
            "rubric",
            "rubric/x@1.0.0 (sha256 unknown)",
        ),
        ({}, rubric("rubric/x@1.0.0", "h1"), "rubric", "none"),
        (judge("f" * 64), judge("e" * 64), "judge", "judge/a@1.0.0 (fingerprint ffffffffffff…)"),
        (judge("f1", count=500), judge("f2", template="u", count=500), "judge", None),
        ({}, judge("f1"), "judge", "none"),
        (policy("p"), policy("q"), "policy", "prbench_v1 (sha256 p…)"),
        (program("p"), program("q"), "program", "g.py (sha256 p…), h.py"),
        ({"programs": []}, program("q"), "program", "none"),
        (jury("t", "u"), jury("t", "v"), "judge", None),
        (options(pass_threshold=0.5), options(), "pass threshold", "0.5"),
        (options(repeat=3), options(), "repeats", "3"),
        (graders(equals=1, regex=1), graders(equals=2), "check equals", "revision 1"),
        ({}, graders(equals=2, regex=1), "check equals", "revision 1"),
        (graders(choice_ladder=3), graders(choice_ladder=2), "check choice_ladder", "revision 3"),
    ],
)
def test_other_content_is_another_measurement(a: Any, b: Any, what: str, said: str) -> None:
    (found,) = mismatches_of(manifest(**a), manifest(**b))

    assert (found.what, found.is_serious) == (what, True)
    assert said is None or found.a == said


def test_settings_of_the_target_are_noted_and_refused_in_strict_mode() -> None:
    (found,) = mismatches_of(manifest(temperature=0.7), manifest(temperature=None))

    assert (found.what, found.a, found.b) == ("temperature", "0.7", "the default")
    assert (found.is_serious, found.is_refused) == (False, True)


def test_a_selection_is_noted_and_never_refused() -> None:
    a, b = options(limit=10), options(where="id = 'a'")
    found = list(mismatches_of(manifest(**a), manifest(**b)))

    assert [(one.what, one.a, one.b) for one in found] == [
        ("limit", "10", "none"),
        ("where", "none", "id = 'a'"),
    ]
    assert not any(one.is_serious or one.is_refused for one in found)
