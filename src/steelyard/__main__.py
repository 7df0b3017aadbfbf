"""The `steelyard` command."""

from __future__ import annotations

import gc
import sys

RARELY = (20_000, 20, 50)
"""How often to look for garbage: imports and records leave little, and looking takes time."""


def main() -> None:
    """Start the command line."""
    gc.set_threshold(*RARELY)
    from steelyard.cli.main import main as command  # noqa: PLC0415 - loaded under that threshold

    command()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` looks first in the folder one stands in, which may be somebody else's.
        del sys.path[0]
    main()
