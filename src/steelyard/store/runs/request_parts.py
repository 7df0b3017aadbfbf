"""Long texts that many records show, kept once for all of them."""

from __future__ import annotations

import hashlib

import msgspec

from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.store.runs.row_writer import TableRow

MOST_KNOWN = 65_536
"""So many texts are known at a time; what is forgotten counts as seen for the first time."""


class RequestPartRows:
    """Tells which long texts are shown again, without keeping any of them in memory.

    The first record that shows a text has it in full, so that what only one shows is where
    everybody looks for it.
    """

    def __init__(self, run_id: str, redact: Redactor) -> None:
        self._run_id = run_id
        self._redact = redact
        self._known: dict[bytes, str | None] = {}
        """Digests of texts, and the hash of each that is kept beside, as it was redacted."""
        self._new: list[TableRow] = []

    def keep_beside(self, text: str) -> str | None:
        """The hash of a text that was shown before; None for one that is new."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[digest] = None
            return None
        sha256 = self._known[digest]
        if sha256 is None:
            sha256 = self._known[digest] = self._kept(text)
        return sha256

    def take(self) -> list[TableRow]:
        """The rows of the texts that are kept beside since this was asked last."""
        new, self._new = self._new, []
        return new

    def _kept(self, text: str) -> str:
        data = self._redact(json_bytes(text))
        sha256 = hashlib.sha256(msgspec.json.decode(data, type=str).encode("utf-8")).hexdigest()
        self._new.append((self._run_id, sha256, data))
        return sha256
