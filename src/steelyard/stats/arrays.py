"""numpy, with one thread for the products of matrices.

Its library makes the threads while it is loaded, which takes a third of that time, and how many
there are decides about the last digit of a product.
"""

from __future__ import annotations

import os

_THREADS = "OPENBLAS_NUM_THREADS"
_IS_GIVEN = _THREADS in os.environ
os.environ.setdefault(_THREADS, "1")

import numpy as np  # noqa: E402 - reads the variable, which no program that we start may inherit

if not _IS_GIVEN:
    del os.environ[_THREADS]

__all__ = ["np"]
