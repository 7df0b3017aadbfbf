"""Pages as single files: their style and their script inside, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from steelyard.reports.html.pages import environment

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLES = ("tokens.css", "parts.css", "compare.css", "report.css")


class FileParts(NamedTuple):
    """What a file has inside, with the hashes by which its content policy allows them alone."""

    style: Markup
    style_hash: str
    script: Markup
    script_hash: str


@cache
def single_files() -> Environment:
    """The templates of single files."""
    pages = environment()
    names: dict[str, Any] = {"file": _parts()}
    pages.globals.update(names)
    return pages


def _parts() -> FileParts:
    style = "".join(map(_asset, _STYLES))
    script = _asset("report.js")
    # Both are our own files, which have no end tag inside.
    return FileParts(Markup(style), _hash(style), Markup(script), _hash(script))  # noqa: S704


def _asset(name: str) -> str:
    return (files("steelyard.reports") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
