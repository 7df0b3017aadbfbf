"""The agreement page says what validating the judge of a queue has found."""

from __future__ import annotations

import re
from pathlib import Path

from fakes.review_project import answers
from servers.review_service import Reviewer, make_review_run
from servers.site import site_of, words_of
from steelyard.project import open_project


def test_a_judge_measured_by_too_few_labels_is_not_called_validated(tmp_path: Path) -> None:
    run_id = make_review_run(tmp_path)
    found: dict[int, str] = {}
    with open_project(tmp_path) as project, site_of(project) as site:
        queues: dict[int, str] = {}
        for size in (39, 12):  # all before a page shows what the judge says
            body = {"name": "Desk", "run_id": run_id, "fill": {"size": size}}
            queues[size] = site.client.post("/v1/queues", json=body).json()["queue_id"]
            person = Reviewer(site.client, f"ann {size}")
            while (claimed := person.claim(queues[size])).status_code == 200:
                item = claimed.json()
                said = answers(int(item["record_id"][1:]))
                person.submit(item, said).raise_for_status()
        for size, queue in queues.items():
            page = site.send(f"/agreement/{queue}", action="validate").text
            note = re.search(r'<p class="note (\w+)" role="status">(.*?)</p>', page, re.DOTALL)
            assert note, page
            found[size] = f"{note[1]}: {words_of(note[2])}"

    assert found[39].startswith("good: judge/questionnaire@1.0.0 is validated with 39 labels.")
    assert "Of 39 items 39 are answered, 0 skipped, 0 not answered." in found[39]
    assert found[12].startswith("warn: judge/questionnaire@1.0.0 is measured, not validated, with")
    assert "labels are too few; at least 10 are needed" in found[12]
