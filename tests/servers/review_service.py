"""A server of a project whose run people review; each test makes queues of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.review_project import write_review
from steelyard.library import evaluate
from steelyard.project import Project, open_project

if TYPE_CHECKING:
    import httpx


def make_review_run(root: Path, rubric: str = "rubric/desk-v1") -> str:
    """Write the project and run it: 39 of 40 records have a response that a judge has graded."""
    write_review(root)
    with open_project(root) as project:
        run = evaluate(root / "desk.json", target="desk", rubric=rubric, project=project)
        return run.run_id


@dataclass(frozen=True, slots=True)
class Reviewer:
    """One person on a server without login, or with the headers of a login."""

    client: httpx.Client
    name: str | None = None
    headers: dict[str, str] | None = None

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx.Response:
        """Send a request as this person."""
        return self.client.request(
            method, path, json=body, params=query or None, headers=self.headers
        )

    @property
    def named(self) -> dict[str, str]:
        """The name, where a server must be told."""
        return {} if self.name is None else {"annotator": self.name}

    def claim(self, queue_id: str, **more: Any) -> httpx.Response:
        """Ask for an item."""
        return self.ask("POST", f"/v1/queues/{queue_id}/claim", {**self.named, **more})

    def claimed(self, queue_id: str, **more: Any) -> dict[str, Any]:
        """An item that there must be."""
        answer = self.claim(queue_id, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def write(
        self, item: dict[str, Any], verb: str = "", revision: int | None = None, **given: Any
    ) -> httpx.Response:
        """Save, or with a verb submit, answers to an item."""
        body = {
            "token": item["token"],
            "revision": item["revision"] if revision is None else revision,
            "answers": given["answers"],
        }
        path = f"/v1/annotations/{item['item_id']}{'/' if verb else ''}{verb}"
        return self.ask("POST" if verb else "PUT", path, body)

    def submit(self, item: dict[str, Any], answers: dict[str, Any], **more: Any) -> httpx.Response:
        """Submit answers."""
        return self.write(item, "submit", answers=answers, **more)

    def do(self, item: dict[str, Any], verb: str, **body: Any) -> httpx.Response:
        """Skip, defer, undo or flag."""
        return self.ask("POST", f"/v1/annotations/{item['item_id']}/{verb}", body)

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a question of this person."""
        answer = self.ask("GET", path, **self.named, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()


class ReviewService(NamedTuple):
    """A client of a server, and the run that is reviewed."""

    client: httpx.Client
    project: Project
    run_id: str

    def queue(self, **more: Any) -> str:
        """The id of a new queue."""
        body = {"name": "Desk", "run_id": self.run_id, "fill": {"size": 5}, **more}
        answer = self.client.post("/v1/queues", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["queue_id"]

    def person(self, name: str) -> Reviewer:
        """Somebody who answers."""
        return Reviewer(self.client, name)
