# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""The task Inspect AI is given; runs in the environment of Inspect AI."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def loans(path: str) -> Task:
    """Ask for every sample, and look for the target in the answer."""
    return Task(dataset=json_dataset(path), solver=generate(), scorer=includes())
