"""The types of columns that differ from database to database."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, String

# PostgreSQL would sort text as the locale of its server does, and SQLite by its bytes.
Text = String().with_variant(String(collation="C"), "postgresql")
"""A text, whose order is that of its bytes."""

# The integers of SQLite have 64 bits.
Whole = Integer().with_variant(BigInteger(), "postgresql")
"""A whole number of up to 64 bits."""
