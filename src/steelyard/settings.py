"""The settings of a project as values; each default stands here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from steelyard.model.json_value import Extra, JsonObject, JsonValue, no_extra

OUTAGE_S = 600.0
REDACTED_KINDS = ("email", "phone", "card", "iban", "key")
"""The kinds of personal data and secrets that there are patterns for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How transient failures are tried again."""

    max_attempts: int = 3
    backoff_s: tuple[float, ...] = (2.0, 6.0, 14.0)
    """Seconds before the second, third, … try."""
    jitter: float = 0.2
    """Share by which a wait may differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """What ends a run before its last record."""

    budget_usd: float | None = None
    deadline_s: float | None = None
    outage_s: float = OUTAGE_S
    """Seconds a target that has answered may be away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """What is never written, as the project file says it."""

    patterns: tuple[str, ...] = REDACTED_KINDS
    custom: tuple[tuple[str, str], ...] = ()
    """Names and patterns of the project's own."""
    fields: tuple[str, ...] = ()
    """Fields of records by their paths, such as `metadata.card`."""

    @classmethod
    def of(cls, row: Mapping[str, JsonValue]) -> RedactionRules:
        """The rules that a part of the project file, or of a stored plan, stands for."""
        named = cast("list[str]", row.get("patterns", list(REDACTED_KINDS)))
        custom = cast("dict[str, str]", row.get("custom", {}))
        return cls(
            patterns=tuple(kind for kind in REDACTED_KINDS if kind in named),
            custom=tuple(sorted(custom.items())),
            fields=tuple(dict.fromkeys(cast("list[str]", row.get("fields", [])))),
        )

    @classmethod
    def restored(cls, stored: JsonValue) -> RedactionRules:
        """The rules of a stored plan; those of earlier versions list the patterns alone."""
        return cls.of(stored if isinstance(stored, dict) else {"patterns": stored})

    def stored(self) -> JsonObject:
        """The rules as a plan keeps them."""
        return {
            "patterns": list(self.patterns),
            "custom": dict(self.custom),
            "fields": list(self.fields),
        }


NO_RULES = RedactionRules(patterns=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project says about itself; every field has a default."""

    guideline_patterns: tuple[str, ...] = ()
    allowed_folders: tuple[str, ...] = ()
    """Folders outside the project from which datasets may show files."""
    allowed_variables: tuple[str, ...] = ()
    """Variables of the environment that datasets may name."""
    allows_dot_files: bool = False
    """Whether datasets may show files such as `.env`, and those in folders such as `.git`."""
    retry: RetrySettings = RetrySettings()
    limits: LimitSettings = LimitSettings()
    redaction: RedactionRules = RedactionRules()
    values: Extra = field(default_factory=no_extra)
    """The whole project file, checked."""

    @property
    def targets(self) -> JsonObject:
        """What the project file says about each target."""
        return cast(JsonObject, self.values.get("targets", {}))
