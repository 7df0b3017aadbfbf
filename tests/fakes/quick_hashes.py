"""Hashes of passwords that take no time, in the process of the tests.

They are those of the product with its least costs; a real one takes longer than most tests.
Commands and servers in processes of their own make real ones.
"""

from __future__ import annotations

from functools import partial

from argon2 import PasswordHasher

from steelyard.store.access import passwords

_quick = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
setattr(passwords, PasswordHasher.__name__, _quick)
