"""Names and versions of what is published."""

from __future__ import annotations

import pytest

from steelyard.model.published import (
    Bump,
    Published,
    StoredFile,
    bump_of,
    compared_version,
    dataset_name,
    unportable_name,
    version_order,
)


def published(**changes: object) -> Published:
    known: dict[str, object] = {
        "kind": "rubric",
        "id": "basic",
        "version": "1.0.0",
        "contract": "check_rubric",
        "sha256": "0" * 64,
        "published_at": "2026-01-15T10:00:00+00:00",
        "source": "rubrics/basic.yaml",
        "files": (StoredFile("rubric.json", "0" * 64, 12),),
        **changes,
    }
    return Published(**known)  # pyright: ignore[reportArgumentType]


def test_a_version_is_referred_to_by_kind_id_and_version() -> None:
    assert published().reference == "rubric/basic@1.0.0"
    assert published(id="quality-v2", version=None).reference == "rubric/quality-v2"


@pytest.mark.parametrize(
    ("beside", "status"),
    [({}, "published"), ({"status": "published"}, "published"), ({"status": "archived"},) * 2],
)
def test_only_what_is_archived_is_not_published(beside: object, status: object) -> None:
    expected = "archived" if isinstance(status, dict) else status

    assert published(beside=beside).status == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dataset/qa@1", ("qa", "1")),
        ("dataset/qa.v2-x@2026-01-15+b_1", ("qa.v2-x", "2026-01-15+b_1")),
        ("dataset/qa", None),
        ("dataset/qa@", None),
        ("dataset/@1", None),
        ("dataset/../x@1", None),
        ("dataset/qa@../1", None),
        ("dataset/.qa@1", None),
        ("rubric/qa@1", None),
        ("datasets/qa.yaml", None),
        ("qa@1", None),
    ],
)
def test_a_dataset_is_named_by_id_and_version(text: str, name: tuple[str, str] | None) -> None:
    assert dataset_name(text) == name


@pytest.mark.parametrize(
    ("old", "new", "bump"),
    [
        ("1.0.0", "2.0.0", "major"),
        ("1.9.9", "2.0.0-rc.1", "major"),
        ("0.1.0", "1.0.0", "major"),
        ("0.1.0", "0.2.0", "minor"),
        ("1.0.0", "1.1.0", "minor"),
        ("1.1.0", "1.1.1", "patch"),
        ("1.1.0", "1.1.1+build", "patch"),
    ],
)
def test_the_number_that_was_raised_names_the_bump(old: str, new: str, bump: Bump) -> None:
    assert bump_of(old, new) == bump


@pytest.mark.parametrize(
    ("version", "below"),
    [
        ("1.10.0", "1.9.0"),
        ("1.9.0", "1.0.0"),
        ("2.0.0-rc.1", "1.10.0"),
        ("3.0.0", "2.0.0"),
        ("1.0.0", "1.9.0"),
        ("0.9.0", None),
        ("0.0.1", None),
    ],
)
def test_the_version_to_compare_with_is_below_or_the_next_of_the_same_major(
    version: str, below: str | None
) -> None:
    known = ["1.0.0", "1.9.0", "1.10.0", "2.0.0-rc.1", "2.0.0"]

    assert compared_version(version, known) == below


def test_versions_are_in_the_order_of_their_numbers() -> None:
    versions = ["1.10.0", "2024-b", "1.9.0", "v2", None, "1.9.0-rc1"]

    assert sorted(versions, key=version_order) == [
        *(None, "v2", "1.9.0", "1.9.0-rc1", "1.10.0", "2024-b"),
    ]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("CON", "'CON' is the name of a device on Windows"),
        ("lpt1.strict", "is the name of a device on Windows"),
        ("basic.", "ends in a dot, which Windows leaves out"),
        ("Basic", "differs from the published 'basic' only in case"),
        ("nul", ""),
        ("console", ""),
        ("com0", ""),
        ("basic", ""),
    ],
)
def test_a_new_name_is_a_folder_of_its_own_on_every_system(name: str, told: str) -> None:
    found = unportable_name(name, ["basic", "nul"])

    assert told in found
    assert bool(found) is bool(told)
