"""The name under which a run knows a dataset that was posted to the service."""

from __future__ import annotations

import re
from pathlib import PurePath

_NAME = re.compile(r"upload/(upl_[0-9A-Z]{26})\.json")


def upload_name(upload_id: str) -> str:
    """The name of an upload, in the place of a dataset's path."""
    return f"upload/{upload_id}.json"


def upload_of(path: PurePath) -> str | None:
    """The id of the upload that a dataset's name, or its path in a project, stands for."""
    found = _NAME.fullmatch("/".join(path.parts[-2:]))
    return found[1] if found else None
