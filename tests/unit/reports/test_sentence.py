"""A message begins with a capital and ends with one full stop."""

from __future__ import annotations

import pytest

from steelyard.reports.sentence import sentence


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("of 20 items TPR has 3", "Of 20 items TPR has 3."),
        ("4 labels are too few.", "4 labels are too few."),
        ("judge/helpful@1.0 has drifted", "judge/helpful@1.0 has drifted."),
        ("", ""),
    ],
)
def test_a_message_is_shown_as_a_sentence(text: str, shown: str) -> None:
    assert sentence(text) == shown
