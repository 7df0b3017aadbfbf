"""Steelyard: evaluate language models and agents with numbers you can defend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from steelyard.errors import SteelyardError as SteelyardError
    from steelyard.model.case import Case as Case
    from steelyard.model.dataset import Dataset as Dataset
    from steelyard.model.finding import Finding as Finding
    from steelyard.model.message import Message as Message
    from steelyard.model.trace import Trace as Trace
    from steelyard.wiring import evaluate as evaluate
    from steelyard.wiring import load_eval_cases as load_eval_cases
    from steelyard.wiring import load_judge as load_judge
    from steelyard.wiring import load_rubric as load_rubric
    from steelyard.wiring import read_dataset as read_dataset

# Names are loaded when they are first used, so that importing the package costs nothing.
_EXPORTS = {
    "Case": "steelyard.model.case",
    "Dataset": "steelyard.model.dataset",
    "Finding": "steelyard.model.finding",
    "Message": "steelyard.model.message",
    "SteelyardError": "steelyard.errors",
    "Trace": "steelyard.model.trace",
    "evaluate": "steelyard.wiring",
    "load_eval_cases": "steelyard.wiring",
    "load_judge": "steelyard.wiring",
    "load_rubric": "steelyard.wiring",
    "read_dataset": "steelyard.wiring",
}
__all__ = [
    "Case",
    "Dataset",
    "Finding",
    "Message",
    "SteelyardError",
    "Trace",
    "__version__",
    "evaluate",
    "load_eval_cases",
    "load_judge",
    "load_rubric",
    "read_dataset",
]


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'steelyard' has no attribute '{name}'")
    return getattr(import_module(_EXPORTS[name]), name)
