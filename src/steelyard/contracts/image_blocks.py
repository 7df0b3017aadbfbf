"""Images in the content of messages, in the forms in which eval files and protocols write them.

Ours: `{type: image, value: chart.png}`, where a path, a data URL or an address may stand.
OpenAI's: `{type: image_url, image_url: {url, detail}}`. Anthropic's: `{type: image, source:
{type: base64, media_type, data}}`, or `{type: url, url}` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import ParseError
from steelyard.formats.image_bytes import DATA, KINDS, base64_bytes, data_url_bytes, media_type_of
from steelyard.formats.problem import Problem
from steelyard.model.finding import Severity
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.message import ImageBlock, OtherBlock
from steelyard.ports import FileFault, Files

MAX_IMAGES = 32 * 1024 * 1024
"""Bytes of all images of one record at most; endpoints take no larger request."""
_TYPES = {"image", "image_url", "input_image"}
_WEB = ("http://", "https://")
_FILE = "file://"
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def is_image(block: JsonObject) -> bool:
    """Whether a block is an image: by its type, or as a file with the name of one."""
    value = block.get("value")
    if block["type"] == "file" and isinstance(value, str):
        return value.casefold().endswith(_SUFFIXES)
    return block["type"] in _TYPES


class _Written(NamedTuple):
    """Where a block says that its image is."""

    reference: str
    path: Path
    detail: str = ""
    is_base64: bool = False


@dataclass(slots=True)
class ImageReader:
    """Reads the images of one record; what is wrong with them is in `problems` afterwards."""

    files: Files
    problems: list[Problem]
    size: int = 0
    """The bytes of its images so far."""

    def block(self, row: JsonObject, path: Path, at: Path | None = None) -> OtherBlock:
        """An image, or the block as it is where there is none.

        `at` is the path of its reference, where that does not stand in the block.
        """
        written = _written(row)
        if written is None:
            self._report("missing_required_field", "{} says nowhere where the image is", path)
            return OtherBlock(data=row)
        at = at or (*path, *written.path)
        if written.reference.startswith(_WEB) and not written.is_base64:
            return ImageBlock(data=row, url=written.reference, detail=written.detail)
        try:
            made = self._loaded(row, written, at)
        except ParseError as wrong:
            self._report(wrong.code, f"{{}}: {wrong}", at)
            return OtherBlock(data=row)
        return made

    def _loaded(self, row: JsonObject, written: _Written, at: Path) -> OtherBlock:
        file = ""
        if written.is_base64:
            content = base64_bytes(written.reference)
        elif written.reference[: len(DATA)].casefold() == DATA:
            content = data_url_bytes(written.reference)
        else:
            file = written.reference.removeprefix(_FILE)
            found = self.files.image(file)
            if isinstance(found, FileFault):
                self._report(found.code, f"{{}}: {found.message}", at, found.hint)
                return OtherBlock(data=row)
            content = found
        media_type = media_type_of(content)
        if not media_type:
            message = f"{{}} is no {KINDS} image, and no target can be sent it"
            self._report("unreadable_file", message, at, severity="warning")
            return OtherBlock(data=row)
        self._count(content, at)
        return ImageBlock(
            data=row, media_type=media_type, content=content, file=file, detail=written.detail
        )

    def _count(self, content: bytes, at: Path) -> None:
        before, self.size = self.size, self.size + len(content)
        if before <= MAX_IMAGES < self.size:
            message = f"the images of a record have {MAX_IMAGES // 1024 // 1024} MB at most"
            self._report("record_too_large", message, at)

    def _report(
        self,
        code: str,
        message: str,
        path: Path,
        hint: str | None = None,
        severity: Severity = "error",
    ) -> None:
        self.problems.append(
            Problem(code=code, message=message, path=path, hint=hint, severity=severity)
        )


def _written(row: JsonObject) -> _Written | None:
    """The forms in which the wild writes one."""
    source = row.get("source")
    if isinstance(source, dict):
        if isinstance(data := source.get("data"), str):
            return _Written(data, ("source", "data"), is_base64=not data.startswith(DATA))
        return _text(source.get("url"), ("source", "url"))
    stated = row.get("image_url")
    if isinstance(stated, dict):
        found = _text(stated.get("url"), ("image_url", "url"))
        detail = stated.get("detail", row.get("detail"))
    else:
        names = ("image_url", "value", "image", "path", "url")
        tried = (_text(row.get(name), (name,)) for name in names)
        found = next((one for one in tried if one), None)
        detail = row.get("detail")
    return found._replace(detail=detail) if found and isinstance(detail, str) else found


def _text(value: JsonValue, path: Path) -> _Written | None:
    return _Written(value, path) if isinstance(value, str) and value.strip() else None
