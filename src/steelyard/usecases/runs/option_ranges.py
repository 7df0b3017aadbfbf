"""The numbers and texts that a run may be asked for."""

from __future__ import annotations

from steelyard.errors import InvalidError
from steelyard.execution.run_options import RunOptions

_MOST = {"repeat": 1_000_000, "workers": 256, "limit": 1_000_000_000, "max_concurrency": 10_000}
_TEXTS = ("target", "rubric", "judge", "where", "cluster")


def require_ranges(options: RunOptions) -> None:
    """Refuse options out of range."""
    require_count("repeat", options.repeat)
    require_count("workers", options.workers)
    if options.limit is not None:
        require_count("limit", options.limit)
    if options.max_concurrency is not None:
        require_count("max_concurrency", options.max_concurrency)
    for name in _TEXTS:
        require_filled(name, getattr(options, name))
    threshold = options.pass_threshold
    if threshold is not None and not 0 <= threshold <= 1:
        raise InvalidError(f"pass_threshold must be a number from 0 to 1, not {threshold}")


def require_count(name: str, count: object) -> None:
    """Refuse a value that is not a valid count."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InvalidError(f"{name} must be a whole number from 1 on, not {count!r}")
    if count > _MOST[name]:
        raise InvalidError(f"{name} must be a whole number from 1 to {_MOST[name]:,}, not {count}")


def require_filled(name: str, text: str | None) -> None:
    """Refuse an empty text, which would count as none."""
    if text is not None and not text.strip():
        raise InvalidError(f"{name} is empty; leave it out, or say which")
