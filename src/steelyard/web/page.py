"""A page: one address that people open, declared once for routing and access."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from steelyard.api.errors import message_of
from steelyard.api.serving import ServedProject
from steelyard.model.access import Identity, Scope
from steelyard.model.audit import Caller
from steelyard.project import Project
from steelyard.web.form import MOST_FIELDS

Section: TypeAlias = Literal[
    "home", "runs", "datasets", "rubrics", "judges", "suites", "targets", "review", "settings", ""
]
Query = TypeVar("Query")
FORM_BYTES = 4 * 1024 * 1024
"""The most bytes of a form, where a page says nothing else."""


class Crumb:
    """A step of the way to a page, with its address."""

    __slots__ = ("href", "text")

    def __init__(self, text: str, href: str) -> None:
        self.text = text
        self.href = href


class PlainQuery(msgspec.Struct, frozen=True):
    """The query of a page that has none; what it does not know is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit(Generic[Query]):
    """A request for a page that was let in: who sends it, and what it says."""

    served: ServedProject
    identity: Identity
    request_id: str
    path: Mapping[str, str]
    query: Query
    request: Request
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    """The fields of a form that was sent; empty where a page is only shown."""

    @property
    def project(self) -> Project:
        """The project that is served."""
        return self.served.project

    @property
    def caller(self) -> Caller:
        """Who is logged for a change."""
        return Caller(self.identity.actor, self.request_id)

    def message(self, error: Exception) -> str:
        """What an error says, without paths of the server."""
        return message_of(error, self.project.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a template shows; each page has a subclass with its own fields."""

    template: ClassVar[str]
    title: str
    crumbs: tuple[Crumb, ...] = ()
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage(Generic[Query]):
    """What is called for an address."""

    path: str
    section: Section
    scope: Scope | None
    """What a visitor must be allowed to do; None where everybody may see it."""
    show: Callable[[Visit[Query]], Context | Response]
    """Called in a thread, like `submit`."""
    query: type[Query] = PlainQuery  # pyright: ignore[reportAssignmentType] - a default for most
    submit: Callable[[Visit[Query]], Context | Response] | None = None
    """Called for a form that is sent to the same address."""
    submit_scope: Scope | None = None
    """What the sender of a form must be allowed to do; None: what a visitor must."""
    max_form: int = FORM_BYTES
    max_fields: int = MOST_FIELDS
    requires_login: bool = True
    """Whether a visitor must be known though no scope is needed."""

    @property
    def is_protected(self) -> bool:
        """Whether a visitor must be known."""
        return self.scope is not None or self.requires_login


AnyPage: TypeAlias = WebPage[Any]
