"""The form of targets: what is wrong stands at its field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from servers.service import running
from servers.site import site_of, words_of
from steelyard.project import open_project


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        open_project(tmp_path) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("temperature", "warm", "Temperature must be a number"),
        ("max_concurrency", "0", "Maximum concurrent calls must be"),
        ("path", "../r.jsonl", "Response file must be inside the project"),
        ("name", "a b", "is not a valid name"),
        ("base_url", "http://127.0.0.1/v1", "Base URL leads to 127.0.0.1"),
    ],
)
def test_a_wrong_value_is_marked_at_its_field(
    client: httpx.Client, field: str, value: str, said: str
) -> None:
    form = {"do": "save", "name": "live", "provider": "openai", "model": "m", field: value}
    page = client.post("/targets", data=form).text
    place = re.search(rf'<input class="input" id="new-{field}"[^>]*>', page)

    assert place
    assert 'aria-invalid="true"' in place[0]
    assert said in page.partition(f'id="new-{field}-hint"')[2][:600]
    assert f'value="{value}"' in place[0]


def test_only_columns_with_a_value_are_shown(client: httpx.Client) -> None:
    for name, more in (("kept", {"path": "r.jsonl", "candidate": "a"}), ("one", {})):
        form = {"do": "save", "name": name, "provider": "recorded" if more else "echo", **more}
        assert client.post("/targets", data=form).status_code == 303

    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)', client.get("/targets").text)

    assert heads == ["Name", "Provider", "Model or source", "Defined in"]
    assert "<td>r.jsonl, a</td>" in client.get("/targets").text


def test_an_answer_comes_with_its_tokens_and_what_it_cost(
    client: httpx.Client, tmp_path: Path
) -> None:
    (tmp_path / "opening_hours.py").write_text(
        """def priced(prompt):
    said = {"role": "assistant", "content": "At nine."}
    return {"messages": [said], "usage": {"input_tokens": 1000, "output_tokens": 500}}
""",
        encoding="utf-8",
    )
    (tmp_path / "steelyard.yaml").write_text(
        "targets: {desk: {provider: python, callable: 'opening_hours:priced', "
        "price: {input: 1, output: 2}}}\n",
        encoding="utf-8",
    )
    with open_project(tmp_path) as project, site_of(project) as site:
        page = words_of(site.send("/targets", do="try", target="desk", prompt="When?").text)

    assert "Answer of desk" in page
    assert "At nine." in page
    assert "Cost $0.002" in page
