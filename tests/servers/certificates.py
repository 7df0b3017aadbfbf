"""One set of trusted certificates for all clients of httpx.

Each would read those of the system anew, which takes longer than most requests of a test.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from httpx import create_ssl_context

_TRUSTED = create_ssl_context()


def _context(verify: Any = True, **more: Any) -> Any:
    return _TRUSTED if verify is True else create_ssl_context(verify, **more)


_transports: Any = import_module("httpx._transports.default")
assert _transports.create_ssl_context is create_ssl_context
_transports.create_ssl_context = _context
