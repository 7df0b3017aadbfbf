"""A project and a run on their way to another machine, and the process that works there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from fakes.projects import Project, row
from fakes.targets import ScriptedTarget
from steelyard.engine.sharing.messages import CallShare, TargetJoined
from steelyard.errors import InvalidError, SourceError
from steelyard.execution.ports import HolderQuestion
from steelyard.project import open_project
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.store.ray_cluster import node_worker, shipment
from steelyard.store.ray_cluster.node_worker import GivenProject, NodeWorker
from steelyard.store.ray_cluster.sent_files import ShownFiles, files_to_send
from steelyard.store.ray_cluster.shipment import (
    Pieces,
    pack_files,
    pack_run,
    pack_upload,
    unpack,
)
from steelyard.store.ray_cluster.versions import NodeVersions, installed_versions
from steelyard.store.runs.worker_pipe import (
    KEPT,
    WorkerJob,
    message,
    read_rows,
    written_answer,
)
from steelyard.store.spool.uploads import Spool
from steelyard.store.tables import results
from steelyard.usecases.runs.execute import start_run
from steelyard.usecases.runs.prepare import RunOptions, prepare

COUNT = 40
UPLOAD = "upl_01M7TF97BH3B86W4TTJZ6VHQZK"
AGENT = "import os\n\ndef answer(prompt):\n    print('asked')\n    return os.environ['SAYS']\n"
SETTINGS = 'targets: {agent: {provider: python, callable: "agent:answer"}}\n'


def bytes_of(data: bytes) -> bytes:
    return data


def packed(pack: Callable[[Pieces], None]) -> list[bytes]:
    out = Pieces(bytes_of)
    pack(out)
    return out.finish()


def packed_project(project: Project, run: StoredRun) -> list[bytes]:
    sent = files_to_send(project.root, run, ShownFiles())
    assert sent.inner == "."
    return packed(lambda out: pack_files(sent, out))


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose target is a program in its folder."""
    made = Project(tmp_path / "here", SETTINGS)
    made.write("agent.py", AGENT)
    return made


@pytest.fixture
def run(project: Project) -> StoredRun:
    """A run that was begun and stopped before its first record."""
    path = project.cases([row(f"r{number}") for number in range(COUNT)])
    ports = open_project(project.root).run_ports()
    begun: list[str] = []

    class StoppedError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StoppedError

    options = RunOptions(dataset=path, target="agent")
    with pytest.raises(StoppedError):
        asyncio.run(
            start_run(replace(ports, watch=stop), prepare(ports, options), begun.append, print)
        )
    return ports.repository.find(begun[0])


def test_the_files_of_a_project_arrive_without_what_is_hidden_or_can_be_made_again(
    project: Project, run: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipment, "PIECE", 1000)
    project.write(".env", "KEY=secret\n")
    project.write(".git/config", "[core]\n")
    project.write("images/cat.png", "x" * 5000)
    project.write("images/__pycache__/cat.pyc", "x")
    project.write("tools/pyvenv.cfg", "home = /usr\n")
    project.write("tools/lib/big.py", "")
    project.write(".steelyard/registry/rubric/tone/1.0.0/rubric.yaml", "id: tone\n")
    (project.root / "linked.txt").symlink_to(project.root / "images" / "cat.png")
    pieces = packed_project(project, run)
    unpack(iter(pieces), tmp_path / "there")

    assert len(pieces) > 5
    assert max(map(len, pieces)) <= 1000
    assert names(tmp_path / "there") == [
        ".steelyard/registry/rubric/tone/1.0.0/rubric.yaml",
        "agent.py",
        str(require_plan(run).options.dataset.name),
        "images/cat.png",
        "linked.txt",
        "steelyard.yaml",
    ]
    assert not (tmp_path / "there" / "linked.txt").is_symlink()


def test_a_dataset_outside_the_project_is_refused(project: Project, run: StoredRun) -> None:
    (project.root.parent / "far.jsonl").write_text("", encoding="utf-8")
    plan = require_plan(run)
    options = structs.replace(plan.options, dataset=Path("../far.jsonl"))
    far = replace(run, plan=structs.replace(plan, options=options))

    with pytest.raises(InvalidError, match="lies outside the project"):
        packed_project(project, far)


def test_the_database_of_a_shipment_holds_one_run_alone(
    project: Project, run: StoredRun, tmp_path: Path
) -> None:
    other = project.run(project.ports(ScriptedTarget()), project.cases([row("a")], "other.jsonl"))
    store = open_project(project.root).store
    (tmp_path / "there").mkdir()
    unpack(iter(packed(lambda out: pack_run(store.engine, run, out))), tmp_path / "there")
    (tmp_path / "there" / "steelyard.yaml").write_text(SETTINGS, encoding="utf-8")
    copy = open_project(tmp_path / "there").store

    assert other.run_id != run.run_id
    assert copy.ids() == {run.run_id}
    assert copy.find(run.run_id).plan == run.plan


def test_a_posted_dataset_travels_sealed_with_a_key_of_its_own(tmp_path: Path) -> None:
    here = Spool(tmp_path / "here", lambda: bytes(32), lambda: UPLOAD)
    draft = here.writer()
    draft.write(b"a question of a patient" * 1000)
    draft.end()
    keys: list[bytes] = []
    pieces = packed(lambda out: keys.append(pack_upload(here, UPLOAD, out)))
    unpack(iter(pieces), tmp_path / "there")
    folder = tmp_path / "there" / ".steelyard" / "spool"
    there, stolen = (
        Spool(folder, lambda key=key: key, lambda: UPLOAD) for key in (*keys, bytes(32))
    )

    assert b"patient" not in b"".join(pieces)
    assert there.open(UPLOAD).read() == b"a question of a patient" * 1000
    assert there.digest(UPLOAD) == here.digest(UPLOAD)
    with pytest.raises(SourceError, match="cannot be decrypted"):
        stolen.open(UPLOAD).read()


def test_a_run_that_keeps_what_it_reads_is_sent_that_alone(
    project: Project, run: StoredRun, tmp_path: Path
) -> None:
    project.write("notes/long.txt", "not read")
    project.write(f".steelyard/inputs/{run.run_id}/d.jsonl", "{}")
    project.write(".steelyard/inputs/run_other/d.jsonl", "{}")
    unpack(iter(packed_project(project, run)), tmp_path / "there")

    assert names(tmp_path / "there") == [
        f".steelyard/inputs/{run.run_id}/d.jsonl",
        str(require_plan(run).options.dataset.name),
        "steelyard.yaml",
    ]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[NodeWorker]:
    """What is an actor on a node of Ray, here without Ray."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(node_worker.tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp" / "steelyard-part-dead").mkdir()
    (tmp_path / "tmp" / "steelyard-part-dead" / "lock").touch()
    made = NodeWorker()
    yield made
    asyncio.run(made.end())
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_worker_on_a_node_evaluates_what_it_leases_and_needs_nothing_of_here(
    project: Project, run: StoredRun, node: NodeWorker
) -> None:
    engine = open_project(project.root).store.engine
    elsewhere = f"{SETTINGS}store: postgresql://nobody@127.0.0.1:9/none\n"
    (project.root / "steelyard.yaml").write_text(elsewhere, encoding="utf-8")
    archives = (
        packed_project(project, run),
        packed(lambda out: pack_run(engine, run, out)),
    )
    (project.root / "steelyard.yaml").unlink()
    leases = iter([(0, 10), (10, 35), *((COUNT, 2 * COUNT) for _ in range(100))])
    places, said = list[int](), list[str]()
    index = results.c.keys().index("idx")
    share = CallShare("agent", calls=4, width=4, cut=0, is_growing=False)

    async def hold() -> int:
        job = WorkerJob(run.run_id, (0, 2), ("agent",))
        given = GivenProject({"SAYS": "yes"})
        refusal = await node.begin(installed_versions(), job, given, *archives)
        assert refusal == ""
        while True:
            content, lines = await node.read()
            said.extend(lines)
            sent = message(content)
            if not sent:
                code, lines = await node.wait()
                said.extend(lines)
                return code
            if isinstance(sent, HolderQuestion):
                if sent.kind == "records":  # of limits it tells, and expects no answer
                    await node.tell(written_answer(sent, next(leases)))
                elif isinstance(sent.said, TargetJoined):
                    await node.tell(written_answer(sent, share))
                continue
            places.extend(kept[index] for kept in read_rows(sent).results)
            await node.tell(KEPT)

    assert asyncio.run(asyncio.wait_for(hold(), 120)) == 0, said
    assert sorted(places) == list(range(35))
    assert "".join(said).count("asked") == 35


def test_a_node_with_another_version_says_so(node: NodeWorker) -> None:
    asked = installed_versions()._replace(steelyard="9.9", python="3.8")
    job = WorkerJob("run_1", (0, 1), ())
    refusal = asyncio.run(node.begin(asked, job, GivenProject({})))

    here = installed_versions()
    assert refusal == (
        f"the node {os.uname().nodename} has Steelyard {here.steelyard}, not 9.9 and Python "
        f"{here.python}, not 3.8"
    )
    assert NodeVersions("1", "3", "2").refusal(NodeVersions("1", "3", "2"), "n") == ""
