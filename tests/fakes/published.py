"""A rubric as the registry keeps it, and its content."""

from __future__ import annotations

import hashlib

from steelyard.model.published import Published, StoredFile

DATA = b'{"id":"basic"}'
SHA = hashlib.sha256(DATA).hexdigest()
BASIC = Published(
    kind="rubric",
    id="basic",
    version="1.0.0",
    contract="check_rubric",
    sha256=SHA,
    published_at="2026-01-15T12:00:00.000+00:00",
    source="rubrics/basic.yaml",
    files=(StoredFile("rubric.json", SHA, len(DATA)),),
)
