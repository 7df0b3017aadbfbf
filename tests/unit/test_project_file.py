from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import pytest

from steelyard.errors import ConfigError
from steelyard.project_file import (
    parse_settings,
    project_schema,
    variables,
    with_environment,
    write_settings,
)
from steelyard.settings import (
    AllowSettings,
    EngineSettings,
    JudgeSetting,
    LimitSettings,
    RedactionRules,
    RetrySettings,
    Settings,
    SuiteSettings,
    TargetEntry,
)
from steelyard.targets.processes.bounded_process import MARK

STORE = "postgresql://user:${VARIABLE}@host:5432/database"
EXAMPLE = """\
targets:
  live:   {provider: openai, base_url: "https://…/v1", model: m-1, api_key_env: MY_KEY, max_concurrency: 64, timeout_s: 60}
  agent:  {provider: command, command: [python, agent.py]}
judges:
  default: {target: live}            # which target answers when a judge is asked; never guessed
suites:
  release: {dataset: datasets/qa.yaml, target: live, rubric: rubric/basic@1.2, strict_validation: true, fail_under: 0.8}
retry: {max_attempts: 3, backoff_s: [2, 6, 14], jitter: 0.2}
limits: {budget_usd: 20, deadline_s: 7200}
slices: [tags, task_type, metadata.topic]
redaction: {patterns: [email, phone, card, iban, key]}
guideline_patterns: ["*.instructions.md"]
allow: {commands: false, folders: []}   # code checks and files outside the root
store: sqlite                            # or postgresql://…   ; artifacts: s3://bucket/prefix
"""  # noqa: E501 - as it stands in the documentation


def refusal(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_settings(text.encode())
    return str(caught.value)


# --- what is read


def test_the_documented_example_is_read() -> None:
    settings = parse_settings(EXAMPLE.encode())

    assert settings == Settings(
        targets={
            "live": TargetEntry(
                provider="openai",
                max_concurrency=64,
                extra={
                    "base_url": "https://…/v1",
                    "model": "m-1",
                    "api_key_env": "MY_KEY",
                    "timeout_s": 60,
                },
            ),
            "agent": TargetEntry(provider="command", extra={"command": ["python", "agent.py"]}),
        },
        judges={"default": JudgeSetting(target="live")},
        suites={
            "release": SuiteSettings(
                dataset="datasets/qa.yaml",
                target="live",
                rubric="rubric/basic@1.2",
                strict_validation=True,
                fail_under=0.8,
            )
        },
        limits=LimitSettings(budget_usd=20, deadline_s=7200),
        slices=("tags", "task_type", "metadata.topic"),
        guideline_patterns=("*.instructions.md",),
    )


def test_every_documented_key_is_accepted() -> None:
    settings = parse_settings(b"""
$schema: https://example.org/project.schema.json
targets:
  a: {provider: openai, temperature: 0, top_p: 1, max_new_tokens: 10, seed: 1, headers: {x-a: b},
      prompt: "Say: {prompt}", price: {input: 0.5, output: 1}, response_format: {type: json},
      requests_per_minute: 10, tokens_per_minute: 1000.5, resources: {GPU: 0.5, near_model: 2}}
  b: {provider: http, url: "http://x/", body: [1], answer: a.b}
  c: {provider: python, callable: "mod:fn"}
  d: {provider: recorded, path: r.jsonl, candidate: A}
judges: {accuracy: {target: a, samples: 3, grouped: true, logprobs: true}, other: {}}
suites: {s: {judge: judge/accuracy@1.0.0, pass_threshold: 0.5}}
allow: {commands: true, folders: [../shared]}
artifacts: s3://bucket/prefix
""")

    assert settings.allow == AllowSettings(commands=True, folders=("../shared",))
    assert list(settings.targets) == ["a", "b", "c", "d"]
    assert settings.artifacts == "s3://bucket/prefix"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}"])
def test_an_empty_project_file_has_all_defaults(text: str) -> None:
    assert parse_settings(text.encode()) == Settings()


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().slices = ()  # pyright: ignore[reportAttributeAccessIssue]


def test_every_key_of_the_published_schema_is_optional() -> None:
    assert "required" not in project_schema()


# --- what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "store: sqlite\ntarget: {}",
            "2: target is not a field of steelyard.yaml (did you mean 'targets'?)",
        ),
        ("Slices: []", "1: Slices is not a field of steelyard.yaml (did you mean 'slices'?)"),
        (
            "targets:\n  live:\n    provider: openai\n    base-url: x",
            "4: targets.live.base-url is not a field of steelyard.yaml (did you mean 'base_url'?)",
        ),
        (
            "targets:\n  live:\n    provider: openai\n    price:\n      imput: 1",
            "5: targets.live.price.imput is not a field of steelyard.yaml (did you mean 'input'?)",
        ),
        (
            "judges:\n  default: {target: a, tagret: b}",
            "2: judges.default.tagret is not a field of steelyard.yaml (did you mean 'target'?)",
        ),
        (
            "judges:\n  default: {target: a, sample: 3}",
            "2: judges.default.sample is not a field of steelyard.yaml (did you mean 'samples'?)",
        ),
        (
            "suites:\n  s:\n    fail_uder: 1",
            "3: suites.s.fail_uder is not a field of steelyard.yaml (did you mean 'fail_under'?)",
        ),
        (
            "retry:\n  max_attemps: 3",
            "2: retry.max_attemps is not a field of steelyard.yaml (did you mean 'max_attempts'?)",
        ),
        (
            "limits: {\n  budget: 1,\n  deadlines: 2}",
            "2: limits.budget is not a field of steelyard.yaml",
        ),
        (
            "redaction:\n  pattern: []",
            "2: redaction.pattern is not a field of steelyard.yaml (did you mean 'patterns'?)",
        ),
        (
            "allow:\n  commands: true\n  folder: []",
            "3: allow.folder is not a field of steelyard.yaml (did you mean 'folders'?)",
        ),
        ("colour: blue", "1: colour is not a field of steelyard.yaml"),
        (
            "targets:\n  a:\n    provider: echo\n    resource: {GPU: 1}",
            "4: targets.a.resource is not a field of steelyard.yaml (did you mean 'resources'?)",
        ),
        (
            "targets:\n  a:\n    provider: echo\n    num_gpus: 1",
            "4: targets.a.num_gpus is not a field of steelyard.yaml (write resources: {GPU: 1})",
        ),
    ],
)
def test_an_unknown_key_at_any_level_is_named_with_line_and_hint(text: str, message: str) -> None:
    assert refusal(text) == f"steelyard.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a", "1: the value must be an object"),
        ("just text", "1: the value must be an object"),
        ("targets: [a]", "1: targets must be an object"),
        ("targets:\n  live: openai", "2: targets.live must be an object"),
        ("targets:\n  live: {model: m}", "2: missing targets.live.provider"),
        (
            'targets:\n  live: {provider: http}\n  b: {provider: http, headers: {x: "a\\nb"}}',
            (
                "3: targets.b.headers: the header 'x' has characters that no header can carry, "
                "such as a line break"
            ),
        ),
        ("judges:\n  default: {target: ' '}", "2: judges.default.target must not be blank"),
        ("judges:\n  a: {samples: 0}", "2: judges.a.samples must be at least 1"),
        ("judges:\n  a: {samples: 1.5}", "2: judges.a.samples must be an integer"),
        ("judges:\n  a:\n    grouped: 1", "3: judges.a.grouped must be true or false"),
        ("judges:\n  a: {logprobs: yes}", "2: judges.a.logprobs must be true or false"),
        ("retry: {max_attempts: 0}", "1: retry.max_attempts must be at least 1"),
        ("retry: {max_attempts: '3'}", "1: retry.max_attempts must be an integer"),
        ("retry:\n  backoff_s:\n  - 1\n  - x", "4: retry.backoff_s[1] must be a number"),
        ("retry: {jitter: 1.5}", "1: retry.jitter must be at most 1"),
        ("allow: {commands: no}", "1: allow.commands must be true or false"),
        ("allow: {folders: ['']}", "1: allow.folders[0] must not be blank"),
        ("guideline_patterns: '*.md'", "1: guideline_patterns must be an array"),
        ("guideline_patterns: [1]", "1: guideline_patterns[0] must be a string"),
        (
            "redaction: {patterns: [emial]}",
            """1: redaction.patterns[0] must be email, phone, card, iban or key, \
not 'emial' (did you mean 'email'?)""",
        ),
        (
            "targets: {a: {provider: http, timeout_s: 0}}",
            "1: targets.a.timeout_s must be more than 0",
        ),
        ("store: 1", "1: store must be a string"),
        (
            "targets:\n  a:\n    provider: echo\n    resources: {GPU: 0}",
            "4: targets.a.resources.GPU must be more than 0",
        ),
        (
            "targets:\n  a:\n    provider: echo\n    resources:\n      GPU: one",
            "5: targets.a.resources.GPU must be a number",
        ),
        (
            "targets: {a: {provider: echo, resources: 1}}",
            "1: targets.a.resources must be an object",
        ),
        (
            "targets: {a: {provider: echo, resources: {gpu: 1}}}",
            "1: targets.a.resources.gpu is no resource of Ray (did you mean 'GPU'?)",
        ),
        (
            "engine:\n  resources:\n    num_cpus: 2",
            "3: engine.resources.num_cpus is no resource of Ray (did you mean 'CPU'?)",
        ),
        (
            "targets: {a: {provider: echo, resources: {GPU: 1.5}}}",
            "1: targets.a.resources.GPU must be whole above 1",
        ),
        (
            "targets: {a: {provider: echo, resources: {memory: 5}}}",
            """1: targets.a.resources.memory cannot be asked for \
(name such nodes by a resource of your own)""",
        ),
        (
            "targets: {a: {provider: echo, resources: {größer: 1}}}",
            "1: targets.a.resources.größer is no name that Ray takes (use ASCII characters)",
        ),
        (
            'engine:\n  resources: {" near": 1}',
            "2: engine.resources. near has a space around its name (did you mean 'near'?)",
        ),
        (
            'targets: {a: {provider: echo, resources: {" GPU": 1}}}',
            "1: targets.a.resources. GPU has a space around its name (did you mean 'GPU'?)",
        ),
        (
            "targets: {a: {provider: echo, resources: {near: 0.00001}}}",
            "1: targets.a.resources.near must have at most 4 decimals",
        ),
        ("store: here", f"1: store must be sqlite, or an address such as {STORE}"),
        ("store: mysql://me:pw@x/y", f"1: store must be sqlite, or an address such as {STORE}"),
        ("engine:\n  address: a", "2: engine.address must be host:port"),
        ("engine:\n  address: ray://a:10001", "2: engine.address must be host:port"),
        ("engine:\n  address: a:99999", "2: engine.address must be host:port"),
        *(
            (
                f"\nartifacts: {address}",
                "2: artifacts is no address of a bucket; write s3://bucket/path",
            )
            for address in ("/srv/runs", "s3://", "s3:/evals/x", "s3://a//b", "s3://me:pw@evals/x")
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_line(text: str, message: str) -> None:
    assert refusal(text) == f"steelyard.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c", "1: mapping values are not allowed in this context"),
        ("store: x\nslices: [a", "2: did not find expected ',' or ']'"),
        ("store: x\nstore: y", "2: duplicate key 'store'"),
        ("store: x\n---\nstore: y", "2: more than one document; write one document a file"),
        ("limits: {budget_usd: .inf}", "1: '.inf' is not a number that data can hold"),
    ],
)
def test_broken_yaml_is_named_with_its_line(text: str, message: str) -> None:
    assert refusal(text) == f"steelyard.yaml:{message}"


def test_a_file_that_is_not_utf8_is_named_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"^steelyard\.yaml:2: not UTF-8"):
        parse_settings(b"store: x\nslices: [\xff]")


def test_the_message_begins_with_the_given_name() -> None:
    with pytest.raises(ConfigError, match=r"^/home/me/steelyard\.yaml:1: "):
        parse_settings(b"colour: 1", "/home/me/steelyard.yaml")


def test_the_first_problem_by_path_is_reported() -> None:
    assert refusal("store: 1\nlimits: 2").startswith("steelyard.yaml:2: limits must")


@pytest.mark.parametrize(
    "text",
    [
        "engine: {address: auto}",
        "engine: {address: '[::1]:6379'}",
        "store: ${WHERE}",
        "store: postgresql://me:${PASSWORD}@host/runs",
        "artifacts: s3://evals",
    ],
)
def test_a_right_address_is_taken(text: str) -> None:
    parse_settings(text.encode())


# --- the environment


FROM_FILE = Settings(retry=RetrySettings(jitter=0.1), redaction=RedactionRules(fields=("a",)))


@pytest.mark.parametrize(
    ("environ", "changed"),
    [
        ({}, {}),
        ({"STEELYARD_STORE": ""}, {}),
        ({"STEELYARD_DEBUG": "1", MARK: "7"}, {}),
        ({"STEELYARD_STORE": "postgresql://db"}, {"store": "postgresql://db"}),
        (
            {"STEELYARD_RETRY_MAX_ATTEMPTS": "5", "STEELYARD_LIMITS_BUDGET_USD": "2.5"},
            {
                "retry": RetrySettings(jitter=0.1, max_attempts=5),
                "limits": LimitSettings(budget_usd=2.5),
            },
        ),
        ({"STEELYARD_SLICES": "[tags, metadata.topic]"}, {"slices": ("tags", "metadata.topic")}),
        (
            {"STEELYARD_REDACTION_CUSTOM": "{b: x, a: y}"},
            {"redaction": RedactionRules(custom=(("a", "y"), ("b", "x")), fields=("a",))},
        ),
    ],
)
def test_the_environment_counts_more_than_the_file(
    environ: dict[str, str], changed: dict[str, Any]
) -> None:
    settings = parse_settings(b"retry: {jitter: 0.1}\nredaction: {fields: [a]}")

    assert settings == FROM_FILE
    assert with_environment(settings, environ) == replace(FROM_FILE, **changed)


def test_fields_of_their_own_are_taken_from_the_environment_too() -> None:
    environ = {
        "STEELYARD_ALLOW_FOLDERS": "[../handbook]",
        "STEELYARD_GUIDELINE_PATTERNS": "['*.md']",
    }
    settings = with_environment(Settings(), environ)

    assert (settings.allow.folders, settings.guideline_patterns) == (("../handbook",), ("*.md",))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("STEELYARD_SLICES", "tags", "STEELYARD_SLICES: slices must be an array"),
        ("STEELYARD_RETRY_JITTER", "2", "STEELYARD_RETRY_JITTER: retry.jitter must be at most 1"),
        ("STEELYARD_SLICES", "[tags", "STEELYARD_SLICES is no YAML: "),
        (
            "STEELYARD_ARTIFACTS",
            "s3://me:pw@evals/x",
            "STEELYARD_ARTIFACTS: artifacts is no address of a bucket; write s3://bucket/path",
        ),
        (
            "STEELYARD_LIMIT_BUDGET_USD",
            "2",
            "STEELYARD_LIMIT_BUDGET_USD is no setting (did you mean 'STEELYARD_LIMITS_BUDGET_USD'",
        ),
        (
            "STEELYARD_BUDGET",
            "2",
            "STEELYARD_BUDGET is no setting (the nearest are STEELYARD_",
        ),
        (
            "STEELYARD_RETRY",
            "{jitter: 1}",
            "STEELYARD_RETRY is no setting (its parts are STEELYARD_RETRY_MAX_ATTEMPTS, ",
        ),
        ("STEELYARD_TARGETS", "{}", "STEELYARD_TARGETS is no setting (the nearest are "),
    ],
)
def test_a_wrong_variable_is_told_by_its_name(name: str, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_environment(Settings(), {name: text})
    assert str(caught.value).startswith(f"the environment variable {said}")


def test_variables_that_a_target_names_are_the_users_own() -> None:
    settings = parse_settings(
        b"targets: {m: {provider: openai, base_url: 'http://127.0.0.1', "
        b"model: '${STEELYARD_MODEL:-m}', api_key_env: STEELYARD_KEY}}"
    )
    environ = {"STEELYARD_MODEL": "m-1", "STEELYARD_KEY": "k"}

    assert with_environment(settings, environ) == settings
    with pytest.raises(ConfigError, match="STEELYARD_MODE is no setting"):
        with_environment(settings, {**environ, "STEELYARD_MODE": "m"})


def test_every_setting_without_names_of_its_own_has_a_variable() -> None:
    paths: set[tuple[str, ...]] = set()
    for one in fields(Settings):
        value = getattr(Settings(), one.name)
        members = [member.name for member in fields(value)] if is_dataclass(value) else []
        paths |= {(one.name, member) for member in members} or {(one.name,)}

    paths -= {("targets",), ("judges",), ("suites",)}
    assert set(variables().values()) == paths
    assert variables()["STEELYARD_ALLOW_DOT_FILES"] == ("allow", "dot_files")
    assert variables()["STEELYARD_STORE"] == ("store",)


@pytest.mark.parametrize("text", ["", "retention: {audit_days: 400}", "limits: {budget_usd: 2}"])
def test_settings_that_are_written_are_read_as_the_same(text: str) -> None:
    settings = parse_settings(text.encode())

    assert parse_settings(write_settings(settings)) == settings


def test_the_engine_of_a_project_is_not_kept_with_its_queued_runs() -> None:
    text = b"engine: {name: ray, address: 'head:6379', workers: 4, resources: {GPU: 0.5}}"
    settings = with_environment(parse_settings(text), {"STEELYARD_ENGINE_SEND_ENV": "[KEY]"})

    assert settings.engine == EngineSettings(
        name="ray",
        address="head:6379",
        workers=4,
        resources={"GPU": 0.5},
        send_env=("KEY",),
    )
    assert parse_settings(write_settings(settings)).engine == EngineSettings()
