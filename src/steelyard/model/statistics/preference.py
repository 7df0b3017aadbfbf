"""What a judge prefers of two answers."""

from __future__ import annotations

from typing import Literal, TypeAlias

Pick: TypeAlias = Literal["first", "second", "tie"]
"""The place of the answer that is preferred."""
Winner: TypeAlias = Literal["a", "b", "tie", "contradiction"]
