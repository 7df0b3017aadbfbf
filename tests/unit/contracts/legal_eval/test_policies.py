"""Policies: those that come with the package, those of plug-ins, and those nobody knows."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import pytest

from steelyard.contracts.legal_eval.policies import Policies, built_in_policies
from steelyard.errors import RequestError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.policy import Policy
from strategies.legal_eval import found_in, row, rows_of

NAMES = (
    "apexv1_extended_v1",
    "default_v1",
    "includebase_default_v1",
    "lar_echr_mcq_v1",
    "lexam_mcq_v1",
    "lexam_oq_v1",
    "prbench_v1",
)
USER = ["{{context}}", "{{attachments}}", "{{prompt}}", "{{choices}}"]
OWN: JsonObject = {"id": "own_v1", "description": "Ours.", "user": [*USER]}


def named(policy_id: JsonValue) -> Case:
    return Case(id="a", metadata={"policy_id": policy_id})


def test_seven_policies_come_with_the_package() -> None:
    """LE-32"""
    assert built_in_policies().ids == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_known_policy_is_found(name: str) -> None:
    """LE-32"""
    policy = built_in_policies().of(named(name))

    assert (policy.id, bool(policy.description)) == (name, True)
    assert found_in(row(metadata={"policy_id": name})) == []


@pytest.mark.parametrize("case", [Case(id="a"), named("other"), named(5), named(None)])
def test_else_the_default_applies(case: Case) -> None:
    """LE-32"""
    assert built_in_policies().of(case).id == "default_v1"


@pytest.mark.parametrize("name", ["prbench", "", 5, None, ["prbench_v1"]])
def test_an_unknown_policy_is_a_warning(name: JsonValue) -> None:
    """LE-32"""
    assert found_in(row(metadata={"policy_id": name})) == [
        ("warning", "invalid_enum_value", "metadata.policy_id")
    ]


def test_the_warning_names_the_known_ones() -> None:
    """LE-32"""
    (one,) = rows_of(row(metadata={"policy_id": "prbench_v2"}))

    (finding,) = one.findings
    assert finding.message == (
        "metadata.policy_id 'prbench_v2' is no policy; default_v1 applies. "
        f"Policies: {', '.join(NAMES)}"
    )
    assert finding.hint == "did you mean 'prbench_v1'?"


def test_the_names_of_judges_and_aggregations_are_those_of_the_benchmarks() -> None:
    policies = built_in_policies()
    told = {name: policies.of(named(name)) for name in NAMES}

    assert {name: policy.aggregation for name, policy in told.items()} == {
        "apexv1_extended_v1": "share_met",
        "default_v1": "default",
        "includebase_default_v1": "choice",
        "lar_echr_mcq_v1": "choice",
        "lexam_mcq_v1": "choice",
        "lexam_oq_v1": "score",
        "prbench_v1": "points_over_maximum",
    }
    assert told["prbench_v1"].judge == "prbench_criterion"


@pytest.mark.parametrize("name", NAMES)
def test_the_judges_that_policies_name_come_along(name: str) -> None:
    """LE-50"""
    policy = built_in_policies().of(named(name))
    judges = files("steelyard.contracts.judge").joinpath("built_in")

    for judge in (policy.criteria_judge, policy.reference_judge):
        assert judges.joinpath(f"{judge}.yaml").is_file()


@pytest.mark.parametrize(
    "plugin", [OWN, [OWN], (OWN,), Policy(id="own_v1", description="Ours.", user=tuple(USER))]
)
def test_a_plug_in_brings_policies(plugin: object) -> None:
    """LE-34"""
    policies = built_in_policies().with_plugins([plugin])

    assert policies.ids == tuple(sorted([*NAMES, "own_v1"]))
    assert policies.of(named("own_v1")).description == "Ours."
    assert built_in_policies().ids == NAMES


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ({**OWN, "id": "prbench_v1"}, "two policies are called 'prbench_v1'"),
        (
            {**OWN, "aggregaton": "x"},
            "policy 'own_v1' has an unknown field 'aggregaton': did you mean 'aggregation'?",
        ),
        (
            {**OWN, "aggregation": "points_over_max"},
            r"policy 'own_v1': Invalid enum value 'points_over_max' - at `\$\.aggregation`",
        ),
        ({**OWN, "zzz": 1}, "policy 'own_v1' has an unknown field 'zzz': there are id, "),
        ({"id": "own_v1", "user": USER}, "policy 'own_v1': Object missing required field"),
        ({**OWN, "user": "text"}, "policy 'own_v1': Expected `array`"),
        (
            {**OWN, "user": [*USER, "{{answer}}"]},
            r"shows 'answer'; there are attachments, choice_ids, choices, context, metadata\.<",
        ),
        (
            {**OWN, "user": USER[1:3]},
            r"policy 'own_v1' never shows \{\{context\}\}, \{\{choices\}\} in its user message",
        ),
        ("own_v1", "a policy is an object or a list of objects, not str"),
        ([5], "a policy is an object or a list of objects, not int"),
    ],
)
def test_a_policy_that_is_none_is_refused(plugin: object, message: str) -> None:
    """LE-34"""
    with pytest.raises(RequestError, match=message):
        built_in_policies().with_plugins([plugin])


def test_there_is_always_a_default() -> None:
    policy = built_in_policies().of(named("prbench_v1"))

    assert Policies([replace(policy, id="default_v1")]).ids == ("default_v1",)
    with pytest.raises(RequestError, match="the policy 'default_v1' is missing"):
        Policies([policy])
