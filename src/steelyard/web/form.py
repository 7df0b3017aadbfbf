"""The fields of a form that a page has sent."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from anyio.to_thread import run_sync
from starlette.requests import Request

from steelyard.api.operation import read_bytes
from steelyard.errors import InvalidError

_FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 200
"""The most fields of a form, where a page says nothing else."""
_WRONG_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|%(?:[Cc][01]|[Ff][5-9A-Fa-f])")
"""An escape without two digits, or of a byte that UTF-8 never has."""


async def read_form(request: Request, limit: int, most: int = MOST_FIELDS) -> dict[str, str]:
    """The fields of a form; decoded in a thread, as a large one takes a while."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise InvalidError(f"a form is sent as {_FORM}, not as '{kind}'")
    return await run_sync(form_fields, await read_bytes(request, limit), most)


def form_fields(data: bytes, most: int = MOST_FIELDS) -> dict[str, str]:
    """The fields by name; one that is given more than once is an error."""
    if wrong := _WRONG_ESCAPE.search(data):
        # Decoding a form of millions of these would take seconds before it fails.
        raise InvalidError(f"the form cannot be read: its byte {wrong.start()} begins no UTF-8")
    try:
        text = data.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=most)
    except ValueError:
        raise InvalidError(
            f"the form cannot be read: it has escaped UTF-8 and at most {most} fields"
        ) from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise InvalidError("a field of the form is given more than once")
    # Browsers send line breaks of text areas as CR LF.
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}
