"""A run of an agent that answers each question several times, and says what took how long."""

from __future__ import annotations

from pathlib import Path

from fakes.projects import Project
from fakes.targets import ScriptedTarget
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace
from steelyard.ports import Request

ANSWERS = (
    "Large print stands on the second floor, shelf LP 12, and can be borrowed for four weeks.",
    "Large print stands on the second floor, shelf LP 12, and can be borrowed for two weeks.",
    "I could not reach the catalogue. Large print is usually on the ground floor.",
)
SPANS: tuple[JsonObject, ...] = (
    {"name": "invoke_agent desk", "kind": "agent", "start_ms": 0, "duration_ms": 2400, "depth": 0},
    {"name": "chat", "kind": "llm", "start_ms": 20, "duration_ms": 640, "depth": 1},
    {"name": "find_title", "kind": "tool", "start_ms": 670, "duration_ms": 410, "depth": 1},
    {"name": "GET /catalogue", "kind": "http", "start_ms": 690, "duration_ms": 370, "depth": 2},
    {"name": "loan_period", "kind": "tool", "start_ms": 680, "duration_ms": 900, "depth": 1},
    {"name": "chat", "kind": "llm", "start_ms": 1600, "duration_ms": 780, "depth": 1},
)
FAILED: JsonObject = {**SPANS[2], "error": "catalogue: 503 after 400 ms"}


class Agent(ScriptedTarget):
    """Answers each repeat differently; in the last one a tool fails."""

    async def ask(self, request: Request) -> Trace:
        """The answer of this repeat, with its spans."""
        await super().ask(request)
        is_last = request.repeat == len(ANSWERS) - 1
        spans: list[JsonObject] = [FAILED if one is SPANS[2] and is_last else one for one in SPANS]
        call = ToolCall(
            tool="find_title",
            id="c1",
            input={"format": "large print"},
            output={"error": "503"} if is_last else {"floor": 2, "shelf": "LP 12"},
            extra={"duration_ms": 410},
        )
        asked = Message(role="assistant", content="Let me look.", tool_calls=(call,))
        return Trace(
            messages=(asked, Message(role="assistant", content=ANSWERS[request.repeat])),
            latency_ms=2400,
            extra={"spans": list[JsonValue](spans)},
        )


def make_agent_run(root: Path) -> str:
    """Run it over one question, three times; the id of the run."""
    project = Project(root)
    case = {
        "id": "desk-large-print",
        "input": "Where do I find novels in large print, and how long may I keep one?",
        "expected_outcome": "Second floor, shelf LP 12; four weeks.",
        "evaluators": [{"type": "contains", "value": "four weeks"}],
    }
    ports = project.ports(Agent())
    done = project.run(ports, project.cases([case], "desk.jsonl"), repeat=len(ANSWERS))
    project.close()
    return done.run_id
