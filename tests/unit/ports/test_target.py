"""The target port: real targets, that of the example plug-in, and the one of the tests."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path

import pytest

from fakes.asking import question
from fakes.targets import ScriptedTarget, fails, trace
from steelyard.errors import TargetError
from steelyard.ports import Target
from steelyard.targets.echo import EchoTarget

EXAMPLE = Path(__file__).parents[3] / "examples" / "target_plugin" / "src"


def nearest() -> Target:
    """The target of the example plug-in."""
    path = EXAMPLE / "steelyard_nearest" / "__init__.py"
    spec = importlib.util.spec_from_file_location("steelyard_nearest", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.NearestTarget("nearest", {"hello": "hello", "When?": "At nine."})


@pytest.fixture(
    params=[EchoTarget, lambda: ScriptedTarget(otherwise="hello"), nearest],
    ids=["echo", "scripted", "nearest"],
)
def target(request: pytest.FixtureRequest) -> Target:
    """Each target in turn."""
    return request.param()


class TestTarget:
    def test_has_a_name(self, target: Target) -> None:
        assert target.name

    def test_describes_itself_in_json(self, target: Target) -> None:
        assert json.loads(json.dumps(target.described())) == target.described()
        assert "provider" in target.described()

    def test_answers_with_a_trace(self, target: Target) -> None:
        assert asyncio.run(target.ask(question("hello"))).response == "hello"

    def test_answers_many_at_once(self, target: Target) -> None:
        async def ask_many() -> list[str]:
            asked = [target.ask(question("hello", record=f"r{n}")) for n in range(20)]
            return [trace.response for trace in await asyncio.gather(*asked)]

        assert asyncio.run(ask_many()) == ["hello"] * 20

    def test_can_be_closed_twice(self, target: Target) -> None:
        async def close_twice() -> None:
            await target.close()
            await target.close()

        asyncio.run(close_twice())


def test_the_script_of_a_record_is_followed_call_by_call() -> None:
    target = ScriptedTarget({"q1": [fails("timeout"), "one", trace("two")]})

    async def ask_four() -> list[str]:
        said: list[str] = []
        for _ in range(4):
            try:
                said.append((await target.ask(question())).response)
            except TargetError as error:
                said.append(error.code)
        return said

    assert asyncio.run(ask_four()) == ["timeout", "one", "two", "two"]
    assert len(target.calls) == 4
