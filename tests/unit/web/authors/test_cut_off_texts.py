"""Texts that lack their end, or have an object around them, are mended and say so."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from servers.service import running
from steelyard.project import open_project

RUBRIC = (
    '{"name": "A", "version": "a-v1", "questions": [{"key": "a", "label": "A", "type": "yes_no"'
)
DATASET = (
    '{"dataset_id": "a", "schema_version": "1.0", "records": [{"record_id": "a", "input": "b"'
)
SAID = "The text was cut off; what followed is missing"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        open_project(tmp_path_factory.mktemp("cut")) as project,
        running(project) as url,
        httpx.Client(base_url=url, headers={"accept": "text/html"}) as found,
    ):
        yield found


@pytest.mark.parametrize(
    ("path", "field", "text"),
    [("/rubrics/import", "rubric", RUBRIC), ("/datasets", "text", DATASET)],
)
def test_the_warning_stays_until_somebody_says_that_the_rest_is_there(
    client: httpx.Client, path: str, field: str, text: str
) -> None:
    def page(action: str, **fields: str) -> str:
        return unescape(client.post(path, data={field: text, "action": action, **fields}).text)

    asked, mended = page("check"), page("mend")
    kept, complete = page("check", cut="1"), page("complete", cut="1")

    assert "The text was cut off, and what followed is missing." in asked
    assert [SAID in one for one in (asked, mended, kept, complete)] == [False, True, True, False]
    assert '<input type="hidden" name="cut" value="1">' in mended
    assert 'value="complete"' in mended


def test_an_object_around_a_rubric_is_left_out_with_a_button(client: httpx.Client) -> None:
    text = f'{{"rubric": {RUBRIC}}}]}}}}'

    def page(action: str) -> str:
        sent = {"rubric": text, "action": action}
        return unescape(client.post("/rubrics/import", data=sent).text)

    asked, mended = page("check"), page("mend")

    assert 'It stands within "rubric"; leave that out.' in asked
    assert "It stands within" not in mended
    assert ("missing id" in asked, "missing id" in mended) == (True, False)
    assert "question rubric" in mended
