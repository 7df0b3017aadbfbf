"""The contracts without those of plug-ins, and their schemas."""

from __future__ import annotations

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.published_schemas import Schemas

CONTRACTS = Contracts()
DATASETS = CONTRACTS.datasets
SCHEMAS = Schemas(CONTRACTS)
FIELDS = {one.name: one.part("columns").fields for one in CONTRACTS.all if one.columns}
"""The fields of each contract that a column can fill."""
