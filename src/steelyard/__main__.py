"""The `steelyard` command."""

from __future__ import annotations

import sys

from steelyard.garbage_collection import put_off_garbage_collection


def main() -> None:
    """Start the command line."""
    put_off_garbage_collection()
    from steelyard.cli.main import main as command  # noqa: PLC0415 - loaded under that rule

    command()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        # `python -m` looks first in the folder one stands in, which may be somebody else's.
        del sys.path[0]
    main()
