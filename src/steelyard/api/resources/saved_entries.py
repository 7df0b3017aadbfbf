"""Suites and targets: those of the project file, and those saved in the store."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.errors import ErrorReply
from steelyard.api.findings import FindingBody, finding_bodies
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.settings import SuiteSettings, TargetEntry
from steelyard.usecases.results.cursors import cursor_of, position_at
from steelyard.usecases.runs.create_suite import create_suite
from steelyard.usecases.settings.saved_settings import (
    ListedSetting,
    delete_suite,
    delete_target,
    list_suites,
    list_targets,
    save_target,
)

Entry = TypeVar("Entry")
Shown = TypeVar("Shown")
_DEFAULT = re.compile(r"\$\{(\w+):-[^}]*\}")


class StrictQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a suite is checked."""

    strict: bool = False
    """Whether an error in a part keeps the suite from being saved."""


class SuiteBody(msgspec.Struct, frozen=True):
    """A suite."""

    name: str
    """Its name."""
    origin: str
    """`file` or `store`."""
    dataset: str | None
    target: str | None
    rubric: str | None
    judge: str | None
    strict_validation: bool
    fail_under: float | None
    pass_threshold: float | None
    require_validated: bool | dict[str, float]


class CreatedSuiteBody(SuiteBody, frozen=True):
    """A suite that was saved, and what there is to say about its parts."""

    findings: list[FindingBody]
    """What is wrong with its dataset, target, rubric and judge."""


class TargetBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """A target, without its secrets: what may hold one is not shown."""

    name: str
    """Its name."""
    origin: str
    """`file` or `store`."""
    provider: str
    base_url: Any = None
    url: Any = None
    method: Any = None
    model: Any = None
    api_key_env: Any = None
    """The name of the variable that holds the key."""
    headers: list[str] = []
    """The names of its headers; sent back, their saved values stay."""
    hidden: list[str] = []
    """The names of other settings whose values are not shown; sent back, they stay as saved."""
    timeout_s: Any = None
    max_concurrency: Any = None
    requests_per_minute: Any = None
    tokens_per_minute: Any = None
    price: Any = None
    prompt: Any = None
    temperature: Any = None
    top_p: Any = None
    max_new_tokens: Any = None
    seed: Any = None
    path: Any = None
    candidate: Any = None
    answer: Any = None
    trace: Any = None
    usage: Any = None
    unsupported: Any = None
    public_only: Any = None


def suite_body(name: str, suite: SuiteSettings, *, is_saved: bool) -> SuiteBody:
    """A suite as the API shows it."""
    return SuiteBody(**_suite(name, suite, is_saved=is_saved))


def target_body(name: str, entry: TargetEntry, origin: str) -> TargetBody:
    """A target as the API shows it."""
    secret = {"headers", *entry.written_secrets()}
    known = {key for key in TargetBody.__struct_fields__ if key not in secret}
    shown: dict[str, Any] = {
        key: _without_default(value) for key, value in entry.row().items() if key in known
    }
    shown |= {"name": name, "origin": origin, "headers": sorted(entry.object("headers"))}
    shown["hidden"] = sorted(key for key in entry.row() if key not in shown)
    return TargetBody(**shown)


def _suite(name: str, suite: SuiteSettings, *, is_saved: bool) -> dict[str, Any]:
    row = cast("dict[str, Any]", msgspec.to_builtins(suite))
    return {"name": name, "origin": "store" if is_saved else "file", **row}


def _without_default(value: Any) -> Any:
    """A setting without the texts that stand in for variables, which may be secrets."""
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return {key: _without_default(item) for key, item in entries.items()}
    return _DEFAULT.sub(r"${\1}", value) if isinstance(value, str) else value


def _page(
    kind: str, rows: Sequence[tuple[str, Shown]], query: PageQuery
) -> tuple[list[Shown], str | None]:
    """A page of entries by name, and its cursor."""
    after = None if query.cursor is None else position_at(query.cursor, kind, str)
    left = [one for one in sorted(rows, key=lambda one: one[0]) if after is None or one[0] > after]
    shown = left[: query.limit]
    cursor = cursor_of(shown[-1][0], kind) if len(left) > len(shown) else None
    return [one for _, one in shown], cursor


def _list_suites(call: Call[PageQuery, None]) -> JsonReply:
    found = list_suites(call.project.setting_ports())
    rows = [(one.name, suite_body(one.name, one.entry, is_saved=one.is_saved)) for one in found]
    return JsonReply(body=Page(*_page("suites", rows, call.query)))


def _show_suite(call: Call[NoQuery, None]) -> JsonReply:
    one = _named("suite", list_suites(call.project.setting_ports()), call.path["name"])
    return JsonReply(body=suite_body(one.name, one.entry, is_saved=one.is_saved))


def _create_suite(call: Call[StrictQuery, dict[str, Any]]) -> JsonReply:
    """The body is an entry of `suites` in the project file, with its name.

    What is wrong with its parts is a warning; in strict mode an error, and nothing is saved.
    Another suite of that name is a conflict.
    """
    name, row = _taken_apart(call.body)
    return _saved_suite(call, name, row, is_update=False)


def _update_suite(call: Call[StrictQuery, dict[str, Any]]) -> JsonReply:
    """The body is an entry of `suites` in the project file, or what was shown of the suite."""
    return _saved_suite(call, *_addressed(call.body, call.path["name"]), is_update=True)


def _saved_suite(
    call: Call[StrictQuery, dict[str, Any]], name: str, row: JsonObject, *, is_update: bool
) -> JsonReply:
    made = create_suite(
        *(call.project.suite_ports(), name, row),
        strict=call.query.strict,
        is_update=is_update,
        caller=call.caller,
    )
    findings = finding_bodies(made.findings)
    if not made.is_saved:
        told = "; ".join(one.message for one in findings if one.severity == "error")
        details: JsonObject = {"findings": msgspec.to_builtins(findings)}
        raise ErrorReply(status=400, message=f"nothing is saved: {told[:2000]}", details=details)
    body = CreatedSuiteBody(**_suite(name, made.suite, is_saved=True), findings=findings)
    return JsonReply(body=body, status=201 if made.is_new else 200)


def _delete_suite(call: Call[NoQuery, None]) -> Response:
    delete_suite(call.project.setting_ports(), call.path["name"], caller=call.caller)
    return Response(status_code=204)


def _list_targets(call: Call[PageQuery, None]) -> JsonReply:
    rows = [(one.name, _target(one)) for one in list_targets(call.project.setting_ports())]
    return JsonReply(body=Page(*_page("targets", rows, call.query)))


def _show_target(call: Call[NoQuery, None]) -> JsonReply:
    found = list_targets(call.project.setting_ports())
    return JsonReply(body=_target(_named("target", found, call.path["name"])))


def _target(one: ListedSetting[TargetEntry]) -> TargetBody:
    return target_body(one.name, one.entry, "store" if one.is_saved else "file")


def _create_target(call: Call[NoQuery, dict[str, Any]]) -> JsonReply:
    """The body is an entry of `targets` in the project file, with its name.

    `command`, `python` and plug-in targets, `ca_file` and `${NAME}` are refused, and so is an
    address that is not public. Another target of that name is a conflict.
    """
    return _saved_target(call, *_taken_apart(call.body), is_update=False)


def _update_target(call: Call[NoQuery, dict[str, Any]]) -> JsonReply:
    """The body is an entry of `targets` in the project file, or what was shown of the target."""
    return _saved_target(call, *_addressed(call.body, call.path["name"]), is_update=True)


def _saved_target(
    call: Call[NoQuery, dict[str, Any]], name: str, row: JsonObject, *, is_update: bool
) -> JsonReply:
    ports = call.project.setting_ports()
    made = save_target(ports, name, row, is_update=is_update, caller=call.caller)
    body = target_body(name, made.entry, "store")
    return JsonReply(body=body, status=201 if made.is_new else 200)


def _delete_target(call: Call[NoQuery, None]) -> Response:
    delete_target(call.project.setting_ports(), call.path["name"], caller=call.caller)
    return Response(status_code=204)


def _taken_apart(body: dict[str, Any]) -> tuple[str, JsonObject]:
    """The name and the settings of an entry."""
    name = body.get("name")
    if not isinstance(name, str):
        raise InvalidError("the body has no 'name', which is a text")
    return name, {key: value for key, value in body.items() if key != "name"}


def _addressed(body: dict[str, Any], name: str) -> tuple[str, JsonObject]:
    """The same for an entry whose name is in the address."""
    if body.get("name", name) != name:
        raise InvalidError(f"the body has another name than the address, which is '{name}'")
    return name, {key: value for key, value in body.items() if key != "name"}


def _named(kind: str, found: Sequence[ListedSetting[Entry]], name: str) -> ListedSetting[Entry]:
    for one in found:
        if one.name == name:
            return one
    raise NotFoundError(f"there is no {kind} '{name[:200]}'")


def _operation(
    method: Any, path: str, summary: str, handle: Callable[..., Any], **more: Any
) -> Any:
    """An operation on suites or targets; only an administrator sees targets."""
    is_target = path.startswith("/v1/targets")
    scope = "registry:read" if method == "GET" else "registry:write"
    return Operation(
        method=method,
        path=path,
        summary=summary,
        scope="admin" if is_target else scope,
        handle=handle,
        **more,
    )


_ONE = {"errors": (404,)}
_SENT: dict[str, Any] = {"body": dict[str, Any], "errors": (409,)}
_SUITE_EXAMPLE: JsonObject = {
    "name": "weekly",
    "dataset": "dataset/desk@2026.1",
    "target": "echo",
    "rubric": "rubric/polite@1.2.0",
    "fail_under": 0.8,
}
_TARGET_EXAMPLE: JsonObject = {
    "name": "live",
    "provider": "openai",
    "base_url": "https://1.1.1.1/v1",
    "model": "m-1",
    "max_concurrency": 16,
}
_SUITE: dict[str, Any] = {
    "answers": {200: CreatedSuiteBody, 201: CreatedSuiteBody},
    "example": _SUITE_EXAMPLE,
}
_TARGET: dict[str, Any] = {
    "answers": {200: TargetBody, 201: TargetBody},
    "example": _TARGET_EXAMPLE,
}
_GONE: dict[str, Any] = {"answers": {204: None}, "errors": (404, 409)}
_LISTED: dict[str, Any] = {"query": PageQuery}
OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _operation(
        *("GET", "/v1/suites", "List suites by name.", _list_suites),
        **(_LISTED | {"answers": {200: Page[SuiteBody]}}),
    ),
    _operation(
        *("POST", "/v1/suites", "Save a suite; findings are in the answer.", _create_suite),
        **(_SENT | _SUITE | {"query": StrictQuery}),
    ),
    _operation(
        *("GET", "/v1/suites/{name}", "Show a suite.", _show_suite),
        **(_ONE | {"answers": {200: SuiteBody}}),
    ),
    _operation(
        *("PUT", "/v1/suites/{name}", "Save a suite, replacing a saved one.", _update_suite),
        **(_SENT | _SUITE | {"query": StrictQuery}),
    ),
    _operation("DELETE", "/v1/suites/{name}", "Remove a saved suite.", _delete_suite, **_GONE),
    _operation(
        *("GET", "/v1/targets", "List targets by name, without secrets.", _list_targets),
        **(_LISTED | {"answers": {200: Page[TargetBody]}}),
    ),
    _operation(*("POST", "/v1/targets", "Save a target.", _create_target), **(_SENT | _TARGET)),
    _operation(
        *("GET", "/v1/targets/{name}", "Show a target, without secrets.", _show_target),
        **(_ONE | {"answers": {200: TargetBody}}),
    ),
    _operation(
        *("PUT", "/v1/targets/{name}", "Save a target, replacing a saved one.", _update_target),
        **(_SENT | _TARGET),
    ),
    _operation("DELETE", "/v1/targets/{name}", "Remove a saved target.", _delete_target, **_GONE),
)
