"""The settings of a project as values; each default stands here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, cast

from msgspec import UnsetType

from steelyard.formats.json_fields import text_list
from steelyard.model.access import Role
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.results.plan import PlannedRedaction

DEFAULT_JUDGE = "default"
"""The entry that says what others under `judges` do not."""
MAX_CONCURRENCY = 16
"""Calls at once to a target, or to a function."""
LOCAL_CONCURRENCY = 96
"""For targets that call nobody."""
TIMEOUT_S = 60.0
"""Seconds that a call to a target may take."""
METHOD = "POST"
"""How an http target is asked."""
API = "chat"
"""The protocol of an openai endpoint."""
OUTAGE_S = 600.0
CONVERSATION = "conversation_id"
"""The field of records of one conversation."""
MIN_RAW_DAYS = 30
"""No project may keep raw results for less."""
LOCAL, RAY = "local", "ray"
"""Where the worker processes of a run are: on this machine, or on the nodes of a cluster."""
SQLITE = "sqlite"
"""A file in `.steelyard`."""
_SECRET = re.compile(
    r"auth(?!ors?\b)|key(?!word)|token(?!s\b|ize)|secret|passw|cookie|credential", re.IGNORECASE
)
"""What a header, a variable or a member of a body is called that holds one."""
_REFERENCE = re.compile(r"\$\{\w+(?::-)?\}|\{\{")
"""What stands for a value from elsewhere; a default that is written out does not."""
MIN_SECRET = 8
"""A secret with fewer characters would match harmless text, and is not looked for."""
KEPT_ELSEWHERE = "${steelyard.yaml}"
"""The value of a header in the settings that a queued run keeps: that of the project file."""
_ADDRESS_SECRET = re.compile(r"//[^/]*@|\?.")
"""A user with a password, or a query, in a URL."""
_HOLDERS = (*("headers", "query", "env", "settings", "body", "response_format", "extra", "tools"),)
"""The settings whose members may hold secrets."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_ADDRESSES = ("provider", "url", "base_url")
REDACTED_KINDS = ("email", "phone", "card", "iban", "key")
"""The kinds of personal data and secrets that there are patterns for."""


def is_header(name: str, value: str) -> bool:
    """Whether a header can carry a name and a value; a line break in them would begin another."""
    return bool(_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input: float | None = None
    output: float | None = None

    @property
    def pair(self) -> tuple[float, float]:
        """Of input and output; what is not said costs nothing."""
        return float(self.input or 0.0), float(self.output or 0.0)

    @property
    def missing(self) -> str | None:
        """The half that is not said."""
        return "input" if self.input is None else "output" if self.output is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEntry:
    """One target: what every provider takes, and in `extra` what its own provider takes."""

    provider: str
    max_concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    price: Price | None = None
    prompt: str | None = None
    """A template that becomes the last user message."""
    unsupported: str = "refuse"
    """What becomes of a record that the target cannot be sent whole: refuse or omit."""
    public_only: bool | None = None
    """Whether its endpoint is never reached at an address that is not public."""
    resources: Mapping[str, float] | None = None
    """What a worker on Ray that asks it takes of the cluster, such as a GPU."""
    extra: JsonObject = field(default_factory=dict[str, JsonValue])

    @classmethod
    def of(cls, row: Mapping[str, JsonValue]) -> TargetEntry:
        """The entry that a part of the project file stands for."""
        common: dict[str, Any] = {name: row[name] for name in TARGET_KEYS if name in row}
        price, at_once = common.pop("price", None), common.pop("max_concurrency", None)
        return cls(
            **common,
            max_concurrency=None if at_once is None else int(at_once),
            price=Price(**price) if price else None,
            extra={name: value for name, value in row.items() if name not in TARGET_KEYS},
        )

    def text(self, key: str, default: str = "") -> str:
        """A setting that is a text."""
        value = self.row().get(key)
        return value if isinstance(value, str) else default

    def object(self, key: str) -> JsonObject:
        """A setting that is an object; empty where it is not there."""
        value = self.row().get(key)
        return value if isinstance(value, dict) else {}

    def written_secrets(self) -> Iterator[str]:
        """The settings that hold secrets and name no variable.

        The value of a header is one whatever its name, if it is long enough to be redacted; other
        settings say so by their name or form.
        """
        for holder in _HOLDERS:
            for place, name, text in _texts(self.extra.get(holder), holder, holder):
                if text == KEPT_ELSEWHERE:
                    continue
                is_named = _SECRET.search(name) and not _REFERENCE.search(text)
                if is_named or (holder == "headers" and _has_literal(text)):
                    yield place
        for key in ("url", "base_url"):
            if _ADDRESS_SECRET.search(self.text(key)):
                yield key

    def without_header_values(self) -> TargetEntry:
        """The entry without the values of headers that are written out, for a queued run."""
        headers = self.object("headers")
        if not headers:
            return self
        kept = {
            name: text if _names_variable(str(text)) else KEPT_ELSEWHERE
            for name, text in headers.items()
        }
        return replace(self, extra={**self.extra, "headers": kept})

    def with_header_values(self, other: TargetEntry | None) -> TargetEntry:
        """The entry with the header values of the same target in the project file.

        A value that is not there any more, or belongs to another address, stays open.
        """
        if other is None or any(self.text(key) != other.text(key) for key in _ADDRESSES):
            return self
        known = other.object("headers")
        headers = {
            name: known.get(name, text) if text == KEPT_ELSEWHERE else text
            for name, text in self.object("headers").items()
        }
        return replace(self, extra={**self.extra, "headers": headers}) if headers else self

    def row(self) -> JsonObject:
        """The entry as it stands in the project file."""
        row = asdict(self)
        if self.price:
            row["price"] = {key: usd for key, usd in row["price"].items() if usd is not None}
        common = {name: row[name] for name in TARGET_KEYS if row[name] is not None}
        return {**common, **self.extra}


def _has_literal(header: str) -> bool:
    """Whether the value of a header is long enough to be redacted, variables aside."""
    return len(_REFERENCE.sub("", header)) >= MIN_SECRET


def _names_variable(header: str) -> bool:
    """Whether the value of a header comes from the environment, such as `Bearer ${NAME}`."""
    return bool(_REFERENCE.search(header)) and not _has_literal(header)


def _texts(value: JsonValue, place: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Every text in a setting, with its place and the last name on the way to it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{place}.{key}", key)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, place, name)
    elif isinstance(value, str):
        yield place, name, value


TARGET_KEYS = tuple(one.name for one in fields(TargetEntry) if one.name != "extra")
"""What every target takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSetting:
    """How a judge is asked."""

    target: str | None = None
    """The name of the target that answers; None where nobody named one."""
    samples: int = 1
    grouped: bool = False
    """Whether one call asks about everything at once."""
    logprobs: bool = False
    """Whether a score is weighted by the probabilities of its values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """A saved combination to run by name."""

    dataset: str | None = None
    target: str | None = None
    rubric: str | None = None
    judge: str | None = None
    strict_validation: bool = False
    fail_under: int | float | None = None
    """The pass rate below which the run fails."""
    pass_threshold: int | float | None = None
    """The score at which a case passes; without it, the rubric's own."""
    require_validated: bool | Mapping[str, int | float] = False
    """Whether judges must be validated, or what their validation must reach."""


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
            fields=tuple(dict.fromkeys(text_list(row, "fields"))),
        )

    @classmethod
    def planned(cls, plan: PlannedRedaction | tuple[str, ...] | UnsetType) -> RedactionRules:
        """The rules of a stored plan; those of earlier versions list the patterns alone."""
        if isinstance(plan, PlannedRedaction):
            return cls.of(plan.json())
        return cls() if isinstance(plan, UnsetType) else cls.of({"patterns": list(plan)})

    def plan(self) -> PlannedRedaction:
        """The rules as a plan keeps them."""
        return PlannedRedaction(
            patterns=self.patterns, custom=dict(self.custom), fields=self.fields
        )


NO_RULES = RedactionRules(patterns=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How many days results are kept at least, from the end of a run."""

    raw_days: int = MIN_RAW_DAYS
    summary_days: int = 180
    audit_days: int | None = None
    """For entries of the audit log, from when they were made; None: for good."""

    @property
    def all_days(self) -> int:
        """Days until nothing is kept: numbers outlive what they were counted from."""
        return max(self.raw_days, self.summary_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowSettings:
    """What datasets and checks may do beyond reading the project."""

    folders: tuple[str, ...] = ()
    """Folders outside the project from which datasets may show files."""
    env: tuple[str, ...] = ()
    """Variables of the environment that datasets may name."""
    dot_files: bool = False
    """Whether datasets may show files such as `.env`, and those in folders such as `.git`."""
    commands: bool = False
    """Whether checks may run programs."""
    hosts: tuple[str, ...] = ()
    """Hosts that saved targets may reach though their addresses are not public."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Which processes execute the runs of a project, unless somebody says otherwise."""

    name: str = LOCAL
    address: str | None = None
    """Of the head of a Ray cluster, `host:port`."""
    workers: int = 1
    """Processes that share a run."""
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    """What each of them takes on Ray, whatever targets say about the same names."""
    send_env: tuple[str, ...] = ()
    """Variables that are sent to them on Ray."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """The OpenID Connect issuer whose users may log in; none without `issuer`."""

    issuer: str | None = None
    client_id: str | None = None
    client_secret_env: str | None = None
    """The variable with the secret; None for a public client."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    role_claim: str | None = None
    """The claim that says what a user may do; dots lead into objects."""
    roles: Mapping[str, Role] = field(default_factory=dict[str, Role])
    """The role for each value of that claim; no other value gives access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project says about itself; every field has a default."""

    guideline_patterns: tuple[str, ...] = ()
    """Globs of the files that go before the prompt."""
    allow: AllowSettings = AllowSettings()
    targets: Mapping[str, TargetEntry] = field(default_factory=dict[str, TargetEntry])
    """What produces responses, by name."""
    judges: Mapping[str, JudgeSetting] = field(default_factory=dict[str, JudgeSetting])
    """How judges are asked, by id; each entry has what `default` says where it says nothing."""
    suites: Mapping[str, SuiteSettings] = field(default_factory=dict[str, SuiteSettings])
    """Saved combinations, by name."""
    retry: RetrySettings = RetrySettings()
    limits: LimitSettings = LimitSettings()
    slices: tuple[str, ...] = ("tags", "task_type")
    """Fields by which metrics are split."""
    cluster: str = CONVERSATION
    """The field whose records depend on each other."""
    redaction: RedactionRules = RedactionRules()
    retention: RetentionSettings = RetentionSettings()
    oidc: OidcSettings = OidcSettings()
    engine: EngineSettings = EngineSettings()
    store: str = SQLITE
    """Where results are kept."""
    artifacts: str | None = None
    """Where finished runs are sealed; None for the project's own folder."""

    def judge(self, name: str) -> JudgeSetting:
        """How the judge of an id is asked."""
        return self.judges.get(name) or self.judges.get(DEFAULT_JUDGE) or JudgeSetting()
