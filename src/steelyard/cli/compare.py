"""`steelyard compare`: test whether one run is better than another."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.running import require_number
from steelyard.cli.server.server_runs import ServerOption, readable_runs
from steelyard.cli.terminal import painter, show, show_json

if TYPE_CHECKING:
    from steelyard.model.statistics.comparison import Comparison
    from steelyard.model.statistics.gate import GateResult
    from steelyard.project import Project
    from steelyard.usecases.judges.response_votes import VotesByResponse
    from steelyard.usecases.results.compare import Knowledge
    from steelyard.usecases.results.gates import ComparisonGate
    from steelyard.usecases.results.paired_runs import PairedRuns
    from steelyard.usecases.runs.pairwise import PairwiseOptions

    Gated = tuple[Comparison, GateResult]
    Votes = tuple[VotesByResponse, VotesByResponse]


class CompareFormat(StrEnum):
    """Output formats of the comparison."""

    text = "text"
    json = "json"
    html = "html"


def command(  # noqa: PLR0913, PLR0917 - one parameter for each option
    runs: Annotated[
        list[str],
        typer.Argument(metavar="A B…", help="Runs: ids, prefixes, latest, latest~1, or folders."),
    ],
    fail_if: Annotated[
        str | None,
        typer.Option(
            "--fail-if",
            metavar="GATE",
            help="Exit 1 if B is 'worse', or may be 'worse by N' points or more.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse runs that are not comparable, and gates on part of A."
        ),
    ] = False,
    pairwise: Annotated[
        str | None,
        typer.Option(
            metavar="JUDGE",
            help="Ask this judge which answer is better: judge/id@version, an id or a path.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="USD", callback=require_number, help="Maximum cost of judging."
        ),
    ] = None,
    max_concurrency: Annotated[
        int | None, typer.Option(min=1, help="Maximum concurrent calls to the judge.")
    ] = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Reuse cached judge replies from earlier runs.")
    ] = False,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Print calls, tokens and cost of judging, and make no call."),
    ] = False,
    output: Annotated[
        CompareFormat, typer.Option("--format", help="Output format.")
    ] = CompareFormat.text,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default stdout.")
    ] = None,
    server: ServerOption = None,
) -> None:
    """Test whether run B is better than run A.

    Only records with a score in both runs count. With more than two runs, every pair is compared,
    and gates compare each run with the first. Exit 2 if there are no pairs, or if scores are
    missing unevenly and a gate is given.
    """
    from steelyard.errors import InvalidError
    from steelyard.event_loop import tune_garbage_collection
    from steelyard.usecases.correction.corrected_pair import judge_knowledge
    from steelyard.usecases.results.compare import compare_all, refuse_unlike
    from steelyard.usecases.results.gates import ComparisonGate, gate_comparisons

    if len(runs) < 2:
        raise InvalidError("name two runs to compare, or more")
    gate = ComparisonGate.parse(fail_if) if fail_if is not None else None
    if pairwise is not None:
        if server is not None:
            raise InvalidError("--pairwise cannot be used with --server")
        from steelyard.usecases.runs.pairwise import PairwiseOptions

        options = PairwiseOptions(pairwise, budget, max_concurrency, cache, strict)
        raise typer.Exit(_compare_pairwise(runs, options, gate, output, file, is_plan=plan))
    if budget is not None or max_concurrency is not None or cache or plan:
        raise InvalidError("--budget, --max-concurrency, --cache and --plan need --pairwise JUDGE")
    tune_garbage_collection()
    with readable_runs(server, runs) as (project, names):
        folders = project.run_folders(names)
        if gate:
            _require_others(folders)
        known = judge_knowledge(project.validations.all, project.clock.now())
        paired = _paired(folders, known) if output is CompareFormat.html else None
        found = [paired.found] if paired else compare_all(folders, strict=strict, known=known)
        if paired and strict:
            refuse_unlike(paired.found)
        gated = gate_comparisons(found, gate, strict=strict) if gate else []
        if paired:
            _put_page(paired, _votes(project, paired) if server is None else None, gated, file)
        else:
            _print(found, output, file, gated)
    for one, result in gated:
        _print_gate(one, result)
    raise typer.Exit(_exit_code(found, gated))


def _require_others(folders: Sequence[Path]) -> None:
    """Refuse a gate on a run against itself: it would always pass."""
    from steelyard.errors import InvalidError

    first, *others = (folder.resolve() for folder in folders)
    if first in others:
        raise InvalidError("a gate cannot compare a run with itself; name different runs")


def _paired(folders: Sequence[Path], known: Knowledge) -> PairedRuns:
    from steelyard.errors import InvalidError
    from steelyard.usecases.results.paired_runs import paired_runs

    if len(folders) != 2:
        raise InvalidError("--format html compares two runs; name two")
    return paired_runs(folders[0], folders[1], known)


def _votes(project: Project, runs: PairedRuns) -> Votes:
    from steelyard.usecases.judges.response_votes import response_votes

    ports = project.review_ports()
    return response_votes(ports, runs.folders[0]), response_votes(ports, runs.folders[1])


def _put_page(
    runs: PairedRuns, votes: Votes | None, gated: Sequence[Gated], file: Path | None
) -> None:
    from steelyard.reports.comparison.comparison_view import pair_shares
    from steelyard.reports.html.comparison_html import SHOWN, comparison_html
    from steelyard.usecases.results.changed_records import pair_parts

    gate = _gate_text(gated[0][1]) if gated else ""
    shares = pair_shares(*runs.counts)
    _put(comparison_html(runs.found, shares, pair_parts(runs, SHOWN, votes), gate), file)


def _print(
    found: Sequence[Comparison], output: CompareFormat, file: Path | None, gated: Sequence[Gated]
) -> None:
    from dataclasses import asdict

    is_single = len(found) == 1
    if output is CompareFormat.json:
        from steelyard.reports.comparison.comparison_text import comparison_json

        results = {id(one): result for one, result in gated}
        rows = [
            comparison_json(one, asdict(result) if (result := results.get(id(one))) else None)
            for one in found
        ]
        _put_json(rows[0] if is_single else {"comparisons": rows}, file)
    else:
        from steelyard.reports.comparison.comparison_text import comparison_lines, table_lines

        lines = comparison_lines(found[0], painter()) if is_single else table_lines(found)
        _put("\n".join(lines), file)


def _print_gate(one: Comparison, result: GateResult) -> None:
    pair = f"{one.b.run_id} against {one.a.run_id}"
    typer.echo(f"steelyard: {pair}: {_gate_text(result)}", err=True)


def _gate_text(result: GateResult) -> str:
    checked = f"'{result.name}' looked at {result.looked_at}"
    if result.is_undecided:
        return result.reason
    return (
        f"gate passed: {checked}" if result.passed else f"gate failed: {result.reason}; {checked}"
    )


def _exit_code(found: Sequence[Comparison], gated: Sequence[Gated]) -> int:
    """2 if runs cannot be compared, else 1 if a gate failed."""
    if any(result.is_undecided for _, result in gated) or not all(one.passes.n for one in found):
        return 2
    return 0 if all(result.passed for _, result in gated) else 1


def _compare_pairwise(
    runs: list[str],
    options: PairwiseOptions,
    gate: ComparisonGate | None,
    output: CompareFormat,
    file: Path | None,
    *,
    is_plan: bool,
) -> int:
    from steelyard.cli.pairwise import PairwiseCommand, compare_pairwise
    from steelyard.errors import InvalidError

    if output is CompareFormat.html:
        raise InvalidError("--format html does not show pairwise comparisons; use text or json")
    if gate and gate.margin is not None and gate.margin >= 50:
        raise InvalidError("--fail-if 'worse by N' with --pairwise: N lies below 50 points")
    asked = PairwiseCommand(
        options=options,
        is_plan=is_plan,
        is_json=output is CompareFormat.json,
        gate=gate,
        put=lambda text: _put(text, file),
    )
    return compare_pairwise(runs, asked)


def _put(text: str, file: Path | None) -> None:
    from steelyard.errors import InvalidError

    if file is None:
        show(text)
        return
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidError(f"cannot write {file}: {error.strerror}") from None
    show(f"wrote {file}")


def _put_json(value: object, file: Path | None) -> None:
    import json

    if file is None:
        show_json(value)
    else:
        _put(json.dumps(value, ensure_ascii=False, indent=2), file)
