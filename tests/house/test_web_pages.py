"""The site has the pages that users are told of, and each template only uses what it is given."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import nodes

from steelyard.reports.html.pages import environment
from steelyard.web import application
from steelyard.web.page import Context
from steelyard.web.rendering import Frame
from steelyard.web.site import PAGES

ADDRESSES = (
    "/",
    "/runs",
    "/runs/{run_id}",
    "/runs/{run_id}/records/{index}",
    "/compare",
    "/groups/{group_id}",
    "/datasets",
    "/datasets/{ref}",
    "/rubrics",
    "/rubrics/import",
    "/rubrics/{ref}",
    "/judges",
    "/judges/{ref}",
    "/suites",
    "/suites/new",
    "/targets",
    "/review",
    "/review/{queue}",
    "/review/{queue}/answers",
    "/review/{queue}/progress",
    "/review/{queue}/adjudicate",
    "/agreement/{queue}",
    "/trace-sets",
    "/trace-sets/{trace_set}",
    "/settings",
    "/settings/users/{name}",
    "/settings/keys",
    "/settings/audit",
    "/settings/password",
    "/login",
    "/logout",
    "/docs",
    "/goto",
)
"""The addresses that people open; one that is removed breaks their links."""
TEMPLATES = Path(str(files("steelyard.web"))) / "templates"
_IN_EVERY = {"title", "crumbs", "status", "template"}


def contexts() -> list[type[Context]]:
    """Every context that the modules of the site declare."""
    assert application.ErrorContext.__module__  # the site above has imported the others
    found, left = list[type[Context]](), [Context]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        if "template" in vars(kind):
            found.append(kind)
    return found


def used_by(name: str) -> dict[str, set[str]]:
    """The fields of `page` and `frame` that a template asks for, with those that it extends."""
    pages = environment("steelyard.web")
    source = (TEMPLATES / name).read_text(encoding="utf-8")
    tree = pages.parse(source)
    found: dict[str, set[str]] = {"page": set(), "frame": set()}
    for node in tree.find_all(nodes.Getattr):
        if isinstance(node.node, nodes.Name) and node.node.name in found:
            found[node.node.name].add(node.attr)
    for other in re.findall(r'{% extends "([^"]+)" %}', source):
        for key, names in used_by(other).items():
            found[key] |= names
    return found


def test_the_addresses_of_the_site_are_there() -> None:
    known = {page.path for page in PAGES}

    assert set(ADDRESSES) <= known
    assert len(known) == len(PAGES)


@pytest.mark.parametrize("context", contexts(), ids=lambda one: one.__name__)
def test_a_template_uses_only_fields_that_its_context_has(context: type[Context]) -> None:
    known = {field.name for field in fields(context)} | set(dir(context)) | _IN_EVERY
    used = used_by(context.template)
    # What every page of settings may show is asked for with `is defined`.
    optional = {name for name in ("problem",) if "settings" in context.template}

    assert used["page"] - optional <= known
    assert used["frame"] <= set(dir(Frame))


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda one: one.name)
def test_no_template_trusts_data_or_has_inline_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert not re.search(r"\|\s*safe\b", text)
    assert not re.search(r"<[^>]*\sstyle=|<style|<script(?![^>]*\ssrc=)|\son\w+=", text)
