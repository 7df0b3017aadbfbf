"""Paths of a project from its root on."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.formats.root_paths import path_from, text_from, value_from

ROOT = Path("/srv/evals")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot read /srv/evals/d.json: gone", "cannot read d.json: gone"),
        ("'/srv/evals/d.json'", "'d.json'"),
        ("/srv/evals: no such folder", ".: no such folder"),
        ("/srv/evals/a, /srv/evals/b", "a, b"),
        ("see /srv/evals.", "see .."),
        ("/srv/evals-2/d.json", "/srv/evals-2/d.json"),
        ("/mnt/srv/evals/d.json", "/mnt/srv/evals/d.json"),
        ("./srv/evals/d.json", "./srv/evals/d.json"),
        ("d.json", "d.json"),
    ],
)
def test_a_message_names_paths_from_the_root_on(text: str, shown: str) -> None:
    assert text_from(ROOT, text) == shown


def test_the_root_of_the_file_system_is_in_every_path() -> None:
    assert text_from(Path("/"), "/srv/evals/d.json") == "/srv/evals/d.json"


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/srv/evals/a/d.json", "a/d.json"), ("/srv/x.json", "../x.json"), ("a/d.json", "a/d.json")],
)
def test_an_absolute_path_begins_at_the_root(path: str, shown: str) -> None:
    assert path_from(ROOT, Path(path)) == Path(shown)


def test_all_texts_of_a_value_begin_there() -> None:
    value = value_from(ROOT, {"path": "/srv/evals/a", "more": ["/srv/evals/b", 3, None]})

    assert value == {"path": "a", "more": ["b", 3, None]}
