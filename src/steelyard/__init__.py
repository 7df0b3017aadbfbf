"""Steelyard: evaluate language models and agents with numbers you can defend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from steelyard.client.async_client import AsyncClient as AsyncClient
    from steelyard.client.sync_client import Client as Client
    from steelyard.errors import SteelyardError as SteelyardError
    from steelyard.library import compare as compare
    from steelyard.library import evaluate as evaluate
    from steelyard.library import load_eval_cases as load_eval_cases
    from steelyard.library import load_judge as load_judge
    from steelyard.library import load_rubric as load_rubric
    from steelyard.library import read_dataset as read_dataset
    from steelyard.library import read_run as read_run
    from steelyard.model.case import Case as Case
    from steelyard.model.dataset import Dataset as Dataset
    from steelyard.model.finding import Finding as Finding
    from steelyard.model.message import Message as Message
    from steelyard.model.outcome import Outcome as Outcome
    from steelyard.model.trace import Trace as Trace
    from steelyard.project import Project as Project
    from steelyard.project import open_project as open_project
    from steelyard.pytest_plugin import cases as cases

# Names are loaded when they are first used, so that importing the package costs nothing.
_EXPORTS = {
    "AsyncClient": "steelyard.client.async_client",
    "Case": "steelyard.model.case",
    "Client": "steelyard.client.sync_client",
    "Dataset": "steelyard.model.dataset",
    "Finding": "steelyard.model.finding",
    "Message": "steelyard.model.message",
    "Outcome": "steelyard.model.outcome",
    "Project": "steelyard.project",
    "SteelyardError": "steelyard.errors",
    "Trace": "steelyard.model.trace",
    "cases": "steelyard.pytest_plugin",
    "compare": "steelyard.library",
    "evaluate": "steelyard.library",
    "load_eval_cases": "steelyard.library",
    "load_judge": "steelyard.library",
    "load_rubric": "steelyard.library",
    "open_project": "steelyard.project",
    "read_dataset": "steelyard.library",
    "read_run": "steelyard.library",
}
__all__ = [
    "AsyncClient",
    "Case",
    "Client",
    "Dataset",
    "Finding",
    "Message",
    "Outcome",
    "Project",
    "SteelyardError",
    "Trace",
    "__version__",
    "cases",
    "compare",
    "evaluate",
    "load_eval_cases",
    "load_judge",
    "load_rubric",
    "open_project",
    "read_dataset",
    "read_run",
]


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'steelyard' has no attribute '{name}'")
    return getattr(import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return __all__
