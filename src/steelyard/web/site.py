"""Every page of the site."""

from __future__ import annotations

from steelyard.web import api_docs, goto, home, login
from steelyard.web.authors import (
    datasets,
    judge,
    judges,
    rubric,
    rubric_import,
    rubrics,
    suites,
    targets,
)
from steelyard.web.page import AnyPage
from steelyard.web.records import records
from steelyard.web.review import (
    adjudicate,
    agreement,
    annotate,
    lead,
    my_answers,
    picking,
    queues,
    reviewer,
    trace_sets,
)
from steelyard.web.runs import compare, groups, run_page, run_slices, runs
from steelyard.web.settings import settings, settings_audit, settings_keys

PAGES: tuple[AnyPage, ...] = (
    *home.PAGES,
    *runs.PAGES,
    *run_page.PAGES,
    *run_slices.PAGES,
    *records.PAGES,
    *compare.PAGES,
    *groups.PAGES,
    *datasets.PAGES,
    *rubrics.PAGES,
    *rubric_import.PAGES,
    *rubric.PAGES,
    *judges.PAGES,
    *judge.PAGES,
    *suites.PAGES,
    *targets.PAGES,
    *reviewer.PAGES,
    *queues.PAGES,
    *picking.PAGES,
    *annotate.PAGES,
    *my_answers.PAGES,
    *lead.PAGES,
    *adjudicate.PAGES,
    *agreement.PAGES,
    *trace_sets.PAGES,
    *goto.PAGES,
    *settings.PAGES,
    *settings_keys.PAGES,
    *settings_audit.PAGES,
    *login.PAGES,
    *api_docs.PAGES,
)
