"""Import full Rubric from JSON, as a plain form: every rule of contract 3, and what is shown."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.definitions import RUBRIC
from servers.accounts import add_users, logged_in
from servers.service import running
from steelyard.contracts.definitions import read_definition_file
from steelyard.plugins import installed_checks
from steelyard.project import Project, open_project
from steelyard.reports.rubric_instructions import rubric_instructions

FULL: dict[str, Any] = {
    "name": "Agent Response Quality v2",
    "version": "agent-quality-v2",
    "status": "published",
    "scale": "0-5",
    "guidance": ["5 = fully correct.", "0-2 = fails the task."],
    "questions": [
        {
            "key": "correctness",
            "label": "Correctness",
            "type": "score",
            "scope": "trace",
            "required": True,
            "scale": {"min": 0, "max": 5},
            "guidance": "5 = fully correct with evidence.",
        },
        {"key": "is_relevant", "label": "Relevant?", "type": "yes_no", "scope": "trace"},
        {
            "key": "failure_type",
            "label": "Failure type",
            "type": "single_select",
            "scope": "trace",
            "options": [{"value": "none", "label": "None"}, {"value": "tool", "label": "Tool"}],
        },
        {
            "key": "turn_verdict",
            "label": "Turn verdict",
            "type": "button_group",
            "scope": "turn",
            "options": [{"value": "pass", "label": "Pass"}, {"value": "fail", "label": "Fail"}],
        },
        {
            "key": "issue_tags",
            "label": "Issue tags",
            "type": "multi_select",
            "scope": "turn",
            "answeredByAuto": False,
            "options": [{"value": "bad_data", "label": "Bad data"}],
        },
        {
            "key": "comment",
            "label": "Comment",
            "type": "comment",
            "scope": "turn",
            "answeredByAuto": False,
        },
    ],
}
Change = Callable[[dict[str, Any]], Any]
BROKEN: list[tuple[str, Change, str]] = [
    ("a name is required", lambda one: one.pop("name"), "name"),
    ("a version is required", lambda one: one.pop("version"), "version"),
    ("a slug", lambda one: one.update(version="Agent Quality"), "version"),
    ("hyphens only", lambda one: one.update(version="agent_v2"), "version"),
    ("a known status", lambda one: one.update(status="live"), "status"),
    ("a scale is a range", lambda one: one.update(scale="five"), "scale"),
    ("guidance is a list", lambda one: one.update(guidance="be fair"), "guidance"),
    (
        "a key has small letters, digits and _",
        lambda one: one["questions"][0].update(key="Correct-ness"),
        "questions[0].key",
    ),
    (
        "a key is unique",
        lambda one: one["questions"][1].update(key="correctness"),
        "questions[1].key",
    ),
    (
        "one of six types",
        lambda one: one["questions"][1].update(type="checkbox"),
        "questions[1].type",
    ),
    (
        "trace or turn",
        lambda one: one["questions"][1].update(scope="session"),
        "questions[1].scope",
    ),
    ("a label", lambda one: one["questions"][1].pop("label"), "questions[1].label"),
    (
        "a score needs a scale somewhere",
        lambda one: (one.pop("scale"), one["questions"][0].pop("scale")),
        "questions[0].scale",
    ),
    (
        "single_select needs options",
        lambda one: one["questions"][2].pop("options"),
        "questions[2].options",
    ),
    (
        "button_group needs options",
        lambda one: one["questions"][3].pop("options"),
        "questions[3].options",
    ),
    (
        "multi_select needs options",
        lambda one: one["questions"][4].pop("options"),
        "questions[4].options",
    ),
    (
        "an option has a value",
        lambda one: one["questions"][2]["options"][0].pop("value"),
        "questions[2].options[0].value",
    ),
    (
        "no judge answers a comment",
        lambda one: one["questions"][5].update(answeredByAuto=True),
        "questions[5].answeredByAuto",
    ),
    ("questions or dimensions", lambda one: one.pop("questions"), "questions"),
]
OPEN: list[tuple[str, Change]] = [
    ("a status is optional", lambda one: one.pop("status")),
    ("guidance is optional", lambda one: one.pop("guidance")),
    ("the rubric's scale serves", lambda one: one["questions"][0].pop("scale")),
    ("required is optional", lambda one: one["questions"][0].pop("required")),
    ("a scope is optional", lambda one: one["questions"][0].pop("scope")),
    (
        "dimensions serve instead of questions",
        lambda one: (one.pop("questions"), one.update(dimensions=["Tone", "Facts"])),
    ),
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "steelyard.yaml").write_text("{}\n")
    with open_project(tmp_path) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


def post(client: httpx.Client, text: str, **fields: str) -> httpx.Response:
    return client.post("/rubrics/import", data={"rubric": text, "action": "create", **fields})


def changed(change: Change) -> str:
    made = copy.deepcopy(FULL)
    change(made)
    return json.dumps(made, indent=2)


def kept(client: httpx.Client) -> list[str]:
    return [one["ref"] for one in client.get("/v1/rubrics").json()["data"]]


def text_in(page: str) -> str:
    found = re.search(r"<textarea[^>]*data-editor-text[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
    assert found
    return unescape(found[1])


def test_the_page_has_the_names_that_people_look_for(client: httpx.Client) -> None:
    page = client.get("/rubrics/import").text

    assert "<h1>Import full Rubric from JSON</h1>" in page
    assert '<label for="editor-text"><b>Rubric JSON</b></label>' in page
    assert ">Create from JSON</button>" in page
    assert "Copy instructions</button>" in page


def test_the_full_example_is_created_and_shown(client: httpx.Client) -> None:
    answer = post(client, json.dumps(FULL))

    assert (answer.status_code, answer.headers["location"]) == (303, "/rubrics/agent-quality-v2")
    stored = client.get("/v1/rubrics/agent-quality-v2").json()
    assert stored["content"] == FULL
    assert (stored["status"], stored["origin"]) == ("published", "store")


@pytest.mark.parametrize(("rule", "change", "path"), BROKEN)
def test_what_breaks_a_rule_is_shown_with_its_path_and_not_saved(
    client: httpx.Client, rule: str, change: Change, path: str
) -> None:
    text = changed(change)

    answer = post(client, text)

    assert answer.status_code == 200, rule
    assert f"<code>{path}</code>" in answer.text
    assert "Nothing is saved" in answer.text
    assert text_in(answer.text) == text
    assert kept(client) == []


@pytest.mark.parametrize(("rule", "change"), OPEN)
def test_what_the_contract_leaves_open_is_created(
    client: httpx.Client, rule: str, change: Change
) -> None:
    assert post(client, changed(change)).status_code == 303, rule
    assert kept(client) == ["agent-quality-v2"]


def test_dimensions_are_previewed_as_scores_from_0_to_5(client: httpx.Client) -> None:
    text = changed(lambda one: (one.pop("questions"), one.update(dimensions=["Tone"])))

    page = post(client, text, action="check").text

    assert re.findall(r'name="p-1" value="(\d)"', page) == list("012345")


@pytest.mark.parametrize("name", ["Agent Response Quality v2", "Another"])
def test_a_published_version_that_is_taken_is_refused(client: httpx.Client, name: str) -> None:
    assert post(client, changed(lambda one: one.update(status="published"))).status_code == 303

    answer = post(client, changed(lambda one: one.update(status="published", name=name)))

    assert answer.status_code == 200
    assert "the version &#39;agent-quality-v2&#39; is taken" in answer.text
    assert "such as agent-quality-v3" in answer.text
    assert '<a href="/rubrics/agent-quality-v2">Open agent-quality-v2</a>' in answer.text
    assert "neither is used" not in answer.text
    stored = client.get("/v1/rubrics/agent-quality-v2").json()
    assert stored["content"]["name"] == "Agent Response Quality v2"


def test_a_draft_is_edited_and_replaced_once_that_was_seen(client: httpx.Client) -> None:
    first = changed(lambda one: one.update(status="draft"))
    other = changed(lambda one: one.update(status="draft", name="Another"))
    assert post(client, first).status_code == 303
    assert post(client, first).status_code == 303

    rubric = client.get("/rubrics/agent-quality-v2").text
    edited = text_in(client.get("/rubrics/import?draft=agent-quality-v2").text)
    unseen = post(client, other)
    kept = client.get("/v1/rubrics/agent-quality-v2").json()["content"]["name"]
    seen = post(client, other, seen="rubric/agent-quality-v2")
    changed_to = client.get("/v1/rubrics/agent-quality-v2").json()["content"]["name"]

    assert '<a class="btn" href="/rubrics/import?draft=agent-quality-v2">Edit</a>' in rubric
    assert edited == first
    assert "it would take the place of the draft rubric/agent-quality-v2" in unseen.text
    assert 'name="seen" value="rubric/agent-quality-v2"' in unseen.text
    assert ">Replace the draft</button>" in unseen.text
    assert kept == "Agent Response Quality v2"
    assert seen.status_code == 303
    assert changed_to == "Another"


@pytest.mark.parametrize("draft", ["none-v1", "..%2Fx", "agent-quality-v2"])
def test_only_drafts_are_edited(client: httpx.Client, draft: str) -> None:
    post(client, changed(lambda one: one.update(status="published")))

    assert text_in(client.get(f"/rubrics/import?draft={draft}").text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + json.dumps(FULL) + "\n```",
        json.dumps(FULL)[:-1] + ",}",
        json.dumps(json.dumps(FULL)),
        "[]",
        "hello",
    ],
)
def test_what_cannot_be_read_is_called_nothing_and_has_no_preview(
    client: httpx.Client, text: str
) -> None:
    page = post(client, text, action="check").text

    assert "cannot be read yet" in page
    assert "check rubric</span>" not in page
    assert "What it checks" not in page
    assert "passes from" not in page
    assert "A warning does not hold it up" not in page


def test_a_judge_that_is_still_to_be_written_is_a_warning_unless_strict(
    client: httpx.Client,
) -> None:
    check = {"id": "a", "kind": "llm_judge", "judge_prompt_ref": "judge/none@1.0"}
    row = {"id": "mine", "version": "1.0.0", "checks": [check], "scoring": {"combine": "min"}}
    strict = post(client, json.dumps(row), strict="1")
    soft = post(client, json.dumps(row))

    assert "Nothing is saved: 1 error has" in strict.text
    assert soft.status_code == 303


def test_findings_have_lines_and_marks_in_the_gutter(client: httpx.Client) -> None:
    text = changed(lambda one: one["questions"][1].update(type="checkbox"))
    line = next(n for n, row in enumerate(text.split("\n"), 1) if '"checkbox"' in row)

    page = post(client, text).text

    assert f'<a href="#L{line}" data-line="{line}" data-mark="err">Line {line}</a>' in page
    assert f'<li id="L{line}" class="err">{line}</li>' in page


def test_a_warning_does_not_hold_it_up_unless_strict(client: httpx.Client) -> None:
    text = changed(lambda one: one["questions"][0].update(guidence="typo"))

    strict = post(client, text, strict="1").text
    assert "did you mean &#39;guidance&#39;?" in strict
    assert kept(client) == []
    assert post(client, text).status_code == 303


def test_a_check_saves_nothing(client: httpx.Client) -> None:
    answer = post(client, json.dumps(FULL), action="check")

    assert answer.status_code == 200
    assert "No findings" in answer.text
    assert kept(client) == []


def test_what_is_left_in_the_mended_text_is_shown_before_it_is_used(client: httpx.Client) -> None:
    """The form and the findings are those of the mended text, without its lines."""
    text = f"```json\n{changed(lambda one: one['questions'][0].update(type='stars'))}\n```"

    page = post(client, text, action="check").text

    assert "begins with a code fence (```)" in page
    assert "in the mended text" in page
    assert "not &#39;stars&#39;" in page
    assert "Relevant?" in page.partition('id="preview"')[2]
    assert text_in(page) == text


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("```json\n", "\n```", "The JSON stands in a code fence."),
        ("Here is the rubric you asked for:\n\n", "", "There is other text around the JSON."),
    ],
)
def test_an_almost_right_text_gets_a_mended_one(
    client: httpx.Client, before: str, after: str, why: str
) -> None:
    text = before + json.dumps(FULL) + after

    refused = post(client, text).text
    mended = post(client, text, action="mend").text

    assert why in refused
    assert ("begins with a code fence (```)" in refused) == before.startswith("```")
    assert ">Use the mended text</button>" in refused
    assert text_in(refused) == text
    assert kept(client) == []
    assert json.loads(text_in(mended)) == FULL
    assert post(client, text_in(mended)).status_code == 303


@pytest.mark.parametrize(
    ("change", "path", "label", "fixed"),
    [
        (
            {"requird": True},
            "questions[1].requird",
            "Rename to required",
            '"required": true',
        ),
        ({"key": "Correct-Ness"}, "questions[1].key", "Change to correct_ness", '"correct_ness"'),
        ({"key": "Wie gut?"}, "questions[1].key", "Change to wie_gut", '"wie_gut"'),
        ({"type": "yesno"}, "questions[1].type", "Change to yes_no", '"type": "yes_no"'),
    ],
)
def test_what_one_word_mends_has_a_button(
    client: httpx.Client, change: dict[str, Any], path: str, label: str, fixed: str
) -> None:
    text = changed(lambda one: one["questions"][1].update(change))

    refused = post(client, text, action="check").text
    mended = post(client, text, action=f"fix:{path}").text

    assert f'value="fix:{path}" data-editor-mend>{label}</button>' in refused
    assert fixed in text_in(mended)
    assert f'value="fix:{path}"' not in mended
    assert text_in(post(client, text, action="fix:nowhere").text) == text


def test_no_rename_is_offered_to_a_name_that_is_there_already(client: httpx.Client) -> None:
    text = changed(lambda one: one.update(question=one["questions"][:1]))

    page = unescape(post(client, text, action="check").text)

    assert "unknown field 'question'" in page
    assert "did you mean 'questions'? It is given already" in page
    assert "Rename to" not in page
    assert text_in(post(client, text, action="fix:question").text) == text


def test_a_rename_changes_the_name_and_no_value_that_reads_the_same(client: httpx.Client) -> None:
    text = json.dumps({"name": "question", "version": "one-v1", "question": FULL["questions"]})

    fixed = json.loads(text_in(post(client, text, action="fix:question").text))

    assert (fixed["name"], fixed["questions"]) == ("question", FULL["questions"])


@pytest.mark.parametrize("strict", ["", "1"])
def test_a_key_given_twice_is_an_error(client: httpx.Client, strict: str) -> None:
    text = json.dumps(FULL).removesuffix("}") + ', "questions": []}'
    text = text.replace("[]", json.dumps(FULL["questions"][:1]))

    refused = post(client, text, strict=strict).text

    assert "questions is given twice; only the last value counts" in refused
    assert "Nothing is saved: 1 error has to be mended first." in refused
    assert kept(client) == []


def test_a_new_version_is_compared_with_the_one_before(client: httpx.Client) -> None:
    post(client, json.dumps(FULL))
    text = changed(lambda one: (one.update(version="agent-quality-v3"), one["questions"].pop()))

    page = post(client, text, action="check").text

    assert 'Against <a href="/rubrics/agent-quality-v2">agent-quality-v2</a>' in page
    assert '<dt class="mono">questions.comment</dt><dd>removed, can move scores</dd>' in page


def test_a_text_that_cannot_be_read_says_where(client: httpx.Client) -> None:
    page = post(client, '{\n  "name": ]\n').text

    assert "invalid_json" in page
    assert "Line 2" in page


def test_nothing_at_all_is_an_error(client: httpx.Client) -> None:
    assert "Nothing is saved" in post(client, "").text
    assert kept(client) == []


@pytest.mark.parametrize("as_json", [True, False])
def test_a_check_rubric_can_be_imported(client: httpx.Client, as_json: bool) -> None:
    text = RUBRIC.format(id="mine", version="1.0.0")
    if as_json:
        row = {"id": "mine", "version": "1.0.0", "checks": [{"id": "right", "kind": "equals"}]}
        text = json.dumps({**row, "scoring": {"combine": "all_pass"}})

    assert "What it checks" in post(client, text, action="check").text
    assert post(client, text).headers["location"] == "/rubrics/mine%401.0.0"
    assert client.post("/rubrics/mine%401.0.0", data={"do": "publish"}).status_code == 303
    assert "the id and version &#39;mine@1.0.0&#39; is taken" in post(client, text).text


def test_the_six_types_are_previewed_at_both_scopes(client: httpx.Client) -> None:
    def at_turn(one: dict[str, Any]) -> None:
        again = copy.deepcopy(one["questions"])
        for question in again:
            question["key"] += "_2"
            question["scope"] = "trace" if question["scope"] == "turn" else "turn"
        one["questions"] += again

    page = post(client, changed(at_turn), action="check").text

    trace, _, turn = page.partition("Under each turn of the assistant")
    for part in (trace, turn):
        found = set(re.findall(r'data-type="(\w+)"', part))
        types = {"score", "single_select", "multi_select", "yes_no", "button_group", "comment"}
        assert found == types


@pytest.mark.parametrize(("count", "is_menu"), [(7, False), (8, True)])
def test_a_single_select_is_a_menu_from_eight_options_on(
    client: httpx.Client, count: int, is_menu: bool
) -> None:
    options = [{"value": f"v{n}", "label": f"V{n}"} for n in range(count)]
    text = changed(lambda one: one["questions"][2].update(options=options))

    page = post(client, text, action="check").text

    assert ('<option value="v0" data-key="1">' in page) == is_menu
    assert ('value="v0" data-key="1"><span>' in page) != is_menu


def test_hostile_texts_stay_texts(client: httpx.Client) -> None:
    hostile = "</textarea><script>alert(1)</script><img src=x onerror=alert(1)>"
    text = changed(lambda one: one.update(name=hostile, guidance=[hostile], version=hostile))

    page = post(client, text).text

    assert hostile not in page
    assert "<script>alert" not in page
    assert text_in(page) == text


def test_the_instructions_have_every_type_and_an_example_that_can_be_imported() -> None:
    text = rubric_instructions()

    example = text.partition("Example\n")[2].encode()
    rubric, findings = read_definition_file(example, ".json", "rubrics", installed_checks())
    assert rubric
    assert findings == []
    types = {"score", "single_select", "multi_select", "yes_no", "button_group", "comment"}
    assert all(f"\n- {one}: " in text for one in types)
    assert "1 for yes or 0 for no" in text
    assert '- "version" (required): ' in text


def test_a_viewer_may_check_and_not_create(project: Project) -> None:
    add_users(project)
    with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
        session = logged_in(client, "viewer")
        token = {"form_token": session.form_token}
        fields = {"rubric": json.dumps(FULL), **token}

        page = client.get("/rubrics/import", headers=session.cookie).text
        checked = client.post(
            "/rubrics/import", data={**fields, "action": "check"}, headers=session.headers
        )
        created = client.post("/rubrics/import", data=fields, headers=session.headers)

    assert "Create from JSON</button>" not in page
    assert checked.status_code == 200
    assert created.status_code == 403
