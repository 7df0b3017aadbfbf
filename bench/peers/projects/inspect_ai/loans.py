# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""The tasks Inspect AI is given; they run in the environment of Inspect AI."""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes, model_graded_qa
from inspect_ai.solver import generate


@task
def loans(path: str) -> Task:
    """Ask for every sample, and look for the target in the answer."""
    return Task(dataset=json_dataset(path), solver=generate(), scorer=includes())


@task
def judged_loans(path: str, judge: str, at_once: int) -> Task:
    """Ask for every sample, and let a model at an address grade the answer."""
    grader = get_model(
        "openai-api/judge/bench-1",
        base_url=judge,
        config=GenerateConfig(max_connections=at_once),
    )
    return Task(
        dataset=json_dataset(path), solver=generate(), scorer=model_graded_qa(model=grader)
    )
