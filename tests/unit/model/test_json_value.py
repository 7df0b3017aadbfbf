from __future__ import annotations

import pytest

from steelyard.model.json_value import Path, no_extra, path_text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("records",), "records"),
        (("records", 1, "input", "prompt"), "records[1].input.prompt"),
        ((0,), "[0]"),
        ((0, "id"), "[0].id"),
        (("a", 0, 12), "a[0][12]"),
        (("$schema",), "$schema"),
        (("",), "''"),
        (("a", ""), "a.''"),
    ],
)
def test_a_path_is_written_the_way_people_read_it(path: Path, text: str) -> None:
    assert path_text(path) == text


def test_every_value_gets_an_extra_of_its_own() -> None:
    first, second = no_extra(), no_extra()

    assert first == {}
    assert first is not second
