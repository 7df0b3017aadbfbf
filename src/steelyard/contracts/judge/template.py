"""What a judge's template may name."""

from __future__ import annotations

VARIABLES = ("input", "output", "expected", "context", "criteria", "rubric", "question")
