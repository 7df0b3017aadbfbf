"""Targets: list them without secrets, save one, and try one prompt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.resources.saved_entries import TargetBody, target_body
from steelyard.errors import InvalidError, SteelyardError
from steelyard.event_loop import run_async
from steelyard.model.json_value import JsonObject
from steelyard.usecases.runs.try_target import TargetTrial, try_target
from steelyard.usecases.settings.saved_settings import delete_target, list_targets, save_target
from steelyard.web.authors.form_fields import field_error
from steelyard.web.page import AnyPage, Context, PlainQuery, Visit, WebPage
from steelyard.web.rendering import segment

PROVIDERS = ("openai", "anthropic", "http", "recorded", "echo")
_TEXTS = ("base_url", "model", "api_key_env", "url", "answer", "path", "candidate")
_NUMBERS = ("temperature", "max_new_tokens", "timeout_s", "max_concurrency")
_LABELS = {
    "name": "Name",
    "base_url": "Base URL",
    "model": "Model",
    "api_key_env": "Variable of the key",
    "temperature": "Temperature",
    "max_new_tokens": "Maximum new tokens",
    "timeout_s": "Timeout in seconds",
    "max_concurrency": "Maximum concurrent calls",
    "url": "URL",
    "answer": "Path to the answer",
    "path": "Response file",
    "candidate": "Candidate",
}
"""What the page calls the fields of its form."""


class TargetsQuery(msgspec.Struct, frozen=True):
    """Which target the form for a trial names."""

    target: str | None = None
    saved: str | None = None
    """A target that was saved just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetsContext(Context):
    """The targets, a trial of one, and the form for a new one."""

    template: ClassVar[str] = "targets.html"
    targets: list[TargetBody]
    chosen: str
    prompt: str = ""
    trial: TargetTrial | None = None
    trial_error: str = ""
    """Why the target could not be asked at all."""
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    save_error: str = ""
    field_errors: Mapping[str, str] = field(default_factory=dict[str, str])
    """What is wrong with single fields of what was typed."""
    saved: str | None = None
    providers: tuple[str, ...] = PROVIDERS


def _show(visit: Visit[TargetsQuery]) -> TargetsContext:
    return _context(visit, chosen=visit.query.target)


def _context(
    visit: Visit[TargetsQuery], *, chosen: str | None = None, **more: object
) -> TargetsContext:
    found = list_targets(visit.project.setting_ports())
    targets = [
        target_body(one.name, one.entry, "store" if one.is_saved else "file") for one in found
    ]
    names = [one.name for one in targets]
    first = chosen if chosen in (*names, "echo") else (names or ["echo"])[0]
    fields: dict[str, object] = {"saved": visit.query.saved, **more}
    return TargetsContext(
        title="Targets",
        targets=targets,
        chosen=first or "echo",
        **fields,  # pyright: ignore[reportArgumentType] - fields of the context by name
    )


def _submit(visit: Visit[TargetsQuery]) -> Context | Response:
    """Try a prompt, or save a target, by which of the two forms was sent."""
    if visit.form.get("do") == "save":
        return _save(visit)
    name, prompt = visit.form.get("target", ""), visit.form.get("prompt", "")
    try:
        ports, redact = visit.project.run_ports(), visit.project.redactor()
        trial = run_async(lambda: try_target(ports, redact, name, prompt))
    except SteelyardError as error:
        return _context(visit, chosen=name, prompt=prompt, trial_error=visit.message(error))
    return _context(visit, chosen=name, prompt=prompt, trial=trial)


def _save(visit: Visit[TargetsQuery]) -> Context | Response:
    name = visit.form.get("name", "").strip()
    try:
        row = _row(visit.form)
        ports = visit.project.setting_ports()
        save_target(ports, name, row, is_update=False, caller=visit.caller)
    except SteelyardError as error:
        message = visit.message(error)
        if at := field_error(message, _LABELS):
            return _context(visit, typed=visit.form, field_errors={at.field: at.message})
        return _context(visit, typed=visit.form, save_error=message)
    return RedirectResponse(f"/targets?target={segment(name)}&saved={segment(name)}", 303)


def _row(form: Mapping[str, str]) -> JsonObject:
    """The settings that a form stands for; what is empty is left out."""
    row: JsonObject = {"provider": form.get("provider", "")}
    row |= {key: text for key in _TEXTS if (text := form.get(key, "").strip())}
    for key in _NUMBERS:
        if text := form.get(key, "").strip():
            row[key] = _number(key, text)
    return row


def _number(key: str, text: str) -> float | int:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise InvalidError(f"targets.new.{key} must be a number, not '{text[:40]}'") from None


def _delete(visit: Visit[PlainQuery]) -> Response:
    delete_target(visit.project.setting_ports(), visit.path["name"], caller=visit.caller)
    return RedirectResponse("/targets", 303)


def _back(_visit: Visit[PlainQuery]) -> Response:
    """The address of a button, opened by hand."""
    return RedirectResponse("/targets", 303)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/targets",
        section="targets",
        scope="admin",
        show=_show,
        query=TargetsQuery,
        submit=_submit,
    ),
    WebPage(
        path="/targets/{name}/delete",
        section="targets",
        scope="admin",
        show=_back,
        submit=_delete,
    ),
)
