"""The `steelyard` command."""

from __future__ import annotations

from steelyard.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
