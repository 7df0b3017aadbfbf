"""The document that describes the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from servers.service import served
from steelyard.api.application import operations
from steelyard.project import open_project


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server says of itself."""
    folder: Path = tmp_path_factory.mktemp("project")
    with open_project(folder) as project, served(project) as client:
        answer = client.get("/openapi.json")
    return answer.json()


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    described = {
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    }

    assert described == {(one.method, one.path) for one in operations()}


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [one["operationId"] for item in document["paths"].values() for one in item.values()]

    assert len(ids) == len(set(ids))
