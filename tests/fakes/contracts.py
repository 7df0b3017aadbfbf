"""The contracts without those of plug-ins, and their schemas."""

from __future__ import annotations

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.published_schemas import Schemas

CONTRACTS = Contracts()
DATASETS = CONTRACTS.datasets
SCHEMAS = Schemas(CONTRACTS)
FIELDS = {name: CONTRACTS[name].part("columns").fields for name in DATASETS}
"""The fields of each contract that a column can fill."""
