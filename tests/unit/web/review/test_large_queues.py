"""Pages of a queue ask the database as often for many items as for few, and read them once."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import pytest
from sqlalchemy import event

from fakes.review_project import answers
from servers.review_service import Reviewer, make_review_run
from servers.site import Site, site_of
from steelyard.project import Project, open_project
from steelyard.web.review.reviewer import COOKIE

FEW, MANY = 3, 30


class Queues(NamedTuple):
    """A server with two queues, each answered by two people in part."""

    project: Project
    site: Site
    by_size: dict[int, str]

    def statements(self, path: str) -> list[str]:
        """What a page asks the database about reviews."""
        asked: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if "review_" in statement:  # the server has other work besides
                asked.append(statement)

        engine = self.project.store.engine
        event.listen(engine, "before_cursor_execute", note)
        try:
            assert self.site.open(path).status_code == 200
        finally:
            event.remove(engine, "before_cursor_execute", note)
        return asked


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> Generator[Queues]:
    root = tmp_path_factory.mktemp("large")
    run_id = make_review_run(root)
    with open_project(root) as project, site_of(project) as site:
        by_size: dict[int, str] = {}
        for size in (FEW, MANY):
            body = {
                "name": "Desk",
                "run_id": run_id,
                "reviews_required": 2,
                "fill": {"size": size},
            }
            queue = site.client.post("/v1/queues", json=body).json()["queue_id"]
            for name in ("ann", "bob"):
                person = Reviewer(site.client, name)
                item = person.claimed(queue)
                person.submit(item, answers(int(item["record_id"][1:]))).raise_for_status()
            by_size[size] = queue
        site.client.cookies.set(COOKIE, "ann")
        yield Queues(project, site, by_size)


@pytest.mark.parametrize(
    ("path", "reads"),
    [
        ("/review/{}", 1),
        ("/review/{}?state=submitted", 1),
        ("/review/{}/answers", 0),
        ("/review/{}/progress", 1),
        ("/review/{}/adjudicate", 1),
        ("/agreement/{}", 1),
    ],
)
def test_items_are_read_at_most_once_however_many_there_are(
    queues: Queues, path: str, reads: int
) -> None:
    for queue in queues.by_size.values():
        queues.statements(path.format(queue))  # what is looked up once for all is known then
    few, many = (queues.statements(path.format(queue)) for queue in queues.by_size.values())

    assert len(many) == len(few)
    assert sum(map(_reads_all_items, many)) == reads


def _reads_all_items(statement: str) -> bool:
    """Whether a statement names the items of a whole queue; others count them."""
    return "review_items.record_id" in statement and "WHERE review_items.queue_id" in statement
