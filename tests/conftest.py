"""What all tests share: how Hypothesis searches."""

from __future__ import annotations

import os

from hypothesis import settings

# On a developer's machine every run looks somewhere else; in CI the same commit gives the same
# answer. `python3 dev.py soak` searches longer.
settings.register_profile("developer", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "developer")
