"""`steelyard compare`: test whether one run is better than another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from steelyard.cli.report_files import (
    FormatOption,
    OutFile,
    OutOption,
    ReportFormat,
    add_summary,
    out_files,
    refuse_formats,
    write_files,
    write_report,
)
from steelyard.cli.running import require_number
from steelyard.cli.server.server_runs import ServerOption, readable_runs
from steelyard.cli.terminal import painter, show
from steelyard.errors import InvalidError

if TYPE_CHECKING:
    from steelyard.cli.pairwise import PairwiseCommand
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


_FIRST = 10
"""So many records that only A passes are shown in Markdown."""


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
    out: OutOption = None,
    output: FormatOption = ReportFormat.text,
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
    from steelyard.garbage_collection import tune_garbage_collection
    from steelyard.usecases.correction.judge_knowledge import judge_knowledge
    from steelyard.usecases.results.compare import compare_all
    from steelyard.usecases.results.gates import ComparisonGate, gate_comparisons

    if len(runs) < 2:
        raise InvalidError("name two runs to compare, or more")
    files = out_files(out)
    gate = ComparisonGate.parse(fail_if) if fail_if is not None else None
    if pairwise is not None:
        if server is not None:
            raise InvalidError("--pairwise cannot be used with --server")
        from steelyard.cli.pairwise import compare_pairwise
        from steelyard.usecases.runs.pairwise import PairwiseOptions

        options = PairwiseOptions(pairwise, budget, max_concurrency, cache, strict)
        asked = _pairwise(options, gate, (output, file), files, is_plan=plan)
        raise typer.Exit(compare_pairwise(runs, asked))
    if budget is not None or max_concurrency is not None or cache or plan:
        raise InvalidError("--budget, --max-concurrency, --cache and --plan need --pairwise JUDGE")
    tune_garbage_collection()
    if len(runs) > 2:
        why = f"a page compares two runs, and these are {len(runs)}; name two"
        refuse_formats(files, output, [ReportFormat.html], why)
    with readable_runs(server, runs) as (project, names):
        folders = project.run_folders(names)
        known = judge_knowledge(project.validations.all, project.clock.now())
        found = compare_all(folders, strict=strict, known=known)
        gated = gate_comparisons(found, gate, strict=strict) if gate else []
        reports = ComparisonReports(project, folders, known, found, gated, server is None)
        _put(reports.rendered(output), file)
        write_files(files, reports.rendered)
        add_summary(reports.rendered)
    for one, result in gated:
        _print_gate(one, result)
    raise typer.Exit(_exit_code(found, gated))


class ComparisonReports(NamedTuple):
    """Compared runs in every format."""

    project: Project
    folders: Sequence[Path]
    known: Knowledge
    found: Sequence[Comparison]
    gated: Sequence[Gated]
    has_votes: bool
    """Whether what people voted is at hand; a server's is not."""

    def rendered(self, form: ReportFormat) -> str:
        """The comparison in a format."""
        return {
            ReportFormat.text: self._text,
            ReportFormat.json: self._json,
            ReportFormat.junit: self._junit,
            ReportFormat.markdown: self._markdown,
            ReportFormat.html: self._html,
        }[form]()

    def _with_gates(self) -> list[tuple[Comparison, GateResult | None]]:
        results = {id(one): result for one, result in self.gated}
        return [(one, results.get(id(one))) for one in self.found]

    def _text(self) -> str:
        from steelyard.reports.comparison.comparison_text import comparison_lines, table_lines

        found = self.found
        is_single = len(found) == 1
        return "\n".join(
            comparison_lines(found[0], painter()) if is_single else table_lines(found)
        )

    def _json(self) -> str:
        from dataclasses import asdict

        from steelyard.reports.comparison.comparison_text import comparison_json

        rows = [
            comparison_json(one, asdict(result) if result else None)
            for one, result in self._with_gates()
        ]
        value = rows[0] if len(rows) == 1 else {"comparisons": rows}
        return json.dumps(value, ensure_ascii=False, indent=2)

    def _junit(self) -> str:
        from steelyard.reports.comparison.comparison_junit import comparison_junit

        return comparison_junit(self._with_gates())

    def _markdown(self) -> str:
        from steelyard.reports.comparison.comparison_markdown import comparison_markdown
        from steelyard.usecases.results.first_failures import failed_rows

        folders = dict(zip(_run_ids(self.found), self.folders, strict=True))
        most = max(2, _FIRST // len(self.found))
        return "\n\n".join(
            comparison_markdown(
                one,
                _gate_text(result) if result else "",
                failed_rows(
                    folders[one.b.run_id], [moved.index for moved in one.regressions[:most]]
                ),
            )
            for one, result in self._with_gates()
        )

    def _html(self) -> str:
        from steelyard.cli.result_pages import pair_page
        from steelyard.usecases.results.paired_runs import paired_runs

        runs = paired_runs(self.folders[0], self.folders[1], self.known)
        votes = _votes(self.project, runs) if self.has_votes else None
        return pair_page(runs, votes, _gate_text(self.gated[0][1]) if self.gated else "")


def _run_ids(found: Sequence[Comparison]) -> list[str]:
    """The runs in the order in which they were named: pairs with the first come first."""
    return [found[0].a.run_id, *(one.b.run_id for one in found if one.a is found[0].a)]


def _votes(project: Project, runs: PairedRuns) -> Votes:
    from steelyard.usecases.judges.response_votes import response_votes

    ports = project.review_ports()
    return response_votes(ports, runs.folders[0]), response_votes(ports, runs.folders[1])


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


def _pairwise(
    options: PairwiseOptions,
    gate: ComparisonGate | None,
    put: tuple[ReportFormat, Path | None],
    files: Sequence[OutFile],
    *,
    is_plan: bool,
) -> PairwiseCommand:
    from steelyard.cli.pairwise import PairwiseCommand

    output, file = put
    why = "a pairwise comparison is shown as text, json or markdown"
    refuse_formats(files, output, [ReportFormat.html, ReportFormat.junit], why)
    if is_plan and files:
        raise InvalidError("--out writes the result of judging, and --plan makes none")
    if gate and gate.margin is not None and gate.margin >= 50:
        raise InvalidError("--fail-if 'worse by N' with --pairwise: N lies below 50 points")
    return PairwiseCommand(
        options=options,
        is_plan=is_plan,
        output=output,
        gate=gate,
        put=lambda text: _put(text, file),
        files=files,
    )


def _put(text: str, file: Path | None) -> None:
    if file is None:
        show(text)
        return
    write_report(file, text)
    show(f"wrote {file}")
