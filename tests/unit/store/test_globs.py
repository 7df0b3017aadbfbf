from __future__ import annotations

import pytest

from steelyard.store.globs import matches


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        # without a slash: the base name, at any depth
        ("*.instructions.md", "python.instructions.md"),
        ("*.instructions.md", "a/b/python.instructions.md"),
        ("python.md", "a/python.md"),
        ("rules-?.md", "a/rules-1.md"),
        ("**.md", "a/b.md"),
        # with a slash: the whole path from the root
        ("docs/*.md", "docs/a.md"),
        ("./docs/*.md", "docs/a.md"),
        ("./a.md", "a.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "a/b/c.md"),
        ("docs/**/*.md", "docs/a.md"),
        ("docs/**/*.md", "docs/a/b/c.md"),
        ("docs/**", "docs/a/b.txt"),
        ("**/guides/**", "a/guides/b/c.md"),
        # nothing else is special
        ("a+(b).md", "x/a+(b).md"),
        ("[ab].md", "[ab].md"),
        ("größe.*", "größe.md"),
        ("**/x.md", "odd\nname/x.md"),
    ],
)
def test_a_path_that_fits_its_pattern(pattern: str, path: str) -> None:
    assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "a.mdx"),
        ("*.md", "a.md/b"),
        ("*.md", "a_md"),
        ("python.md", "mypython.md"),
        ("rules-?.md", "rules-12.md"),
        ("Rules.md", "rules.md"),
        ("docs/*.md", "docs/a/b.md"),
        ("docs/*.md", "other/docs/a.md"),
        ("docs/?.md", "docs//.md"),
        ("./a.md", "b/a.md"),
        ("docs/**/*.md", "docs.md"),
        ("docs/**/*.md", "xdocs/a.md"),
        ("[ab].md", "a.md"),
        ("", "a.md"),
    ],
)
def test_a_path_that_does_not_fit(pattern: str, path: str) -> None:
    assert not matches(pattern, path)
