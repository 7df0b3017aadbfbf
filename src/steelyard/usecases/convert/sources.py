"""The source formats that are no contract: one line each."""

from __future__ import annotations

from steelyard.contracts.importers.otel_traces import MAPPED
from steelyard.contracts.importers.platform_values import CASE_NAMES
from steelyard.usecases.convert.agentv.results import agentv_responses
from steelyard.usecases.convert.agentv.targets import agentv_targets
from steelyard.usecases.convert.benchmarks import BENCHMARKS, benchmark_cases
from steelyard.usecases.convert.inspect_source import inspect_cases, inspect_responses
from steelyard.usecases.convert.langfuse import (
    langfuse_cases,
    langfuse_labels,
    langfuse_responses,
)
from steelyard.usecases.convert.lm_eval import lm_eval_cases, lm_eval_responses
from steelyard.usecases.convert.openai_evals.source import (
    ITEM_FIELDS,
    evals_cases,
    evals_responses,
)
from steelyard.usecases.convert.otel_source import otel_responses
from steelyard.usecases.convert.phoenix import (
    phoenix_cases,
    phoenix_labels,
    phoenix_responses,
)
from steelyard.usecases.convert.promptfoo.intake import promptfoo_cases
from steelyard.usecases.convert.source import SourceFormat
from steelyard.usecases.convert.tables import TABLES, table_cases

SOURCES: dict[str, SourceFormat] = {
    **dict.fromkeys(BENCHMARKS, SourceFormat(cases=benchmark_cases)),
    "openai-evals": SourceFormat(
        cases=evals_cases,
        case_names=ITEM_FIELDS,
        responses=evals_responses,
        response_names=ITEM_FIELDS,
    ),
    "lm-eval": SourceFormat(cases=lm_eval_cases, responses=lm_eval_responses),
    "promptfoo": SourceFormat(cases=promptfoo_cases),
    "inspect": SourceFormat(cases=inspect_cases, responses=inspect_responses),
    "otel": SourceFormat(responses=otel_responses, response_names=MAPPED),
    "agentv": SourceFormat(responses=agentv_responses, targets=agentv_targets),
    "langfuse": SourceFormat(
        cases=langfuse_cases,
        case_names=CASE_NAMES,
        responses=langfuse_responses,
        response_names=MAPPED,
        labels=langfuse_labels,
    ),
    "phoenix": SourceFormat(
        cases=phoenix_cases,
        case_names=CASE_NAMES,
        responses=phoenix_responses,
        response_names=MAPPED,
        labels=phoenix_labels,
    ),
    **dict.fromkeys(TABLES, SourceFormat(cases=table_cases, case_names=None)),
}
