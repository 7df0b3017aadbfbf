"""The report in its four forms."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from steelyard.model.finding import Finding, error, warning
from steelyard.reports.findings import (
    findings_github,
    findings_json,
    findings_junit,
    findings_text,
    printable,
    shown_findings,
    skipped_text,
    summary_text,
)
from steelyard.usecases.datasets.excerpts import Excerpt
from steelyard.usecases.datasets.validate import FileReport


def record_error(
    index: int, message: str = "input must be a string", record_id: str | None = None
) -> Finding:
    return Finding(
        severity="error",
        code="invalid_field_type",
        message=message,
        path=f"records[{index}].input",
        index=index,
        record_id=record_id,
    )


def report(*findings: Finding, path: str = "a.json", total: int = 3) -> FileReport:
    rejected = len({finding.index for finding in findings if finding.is_error})
    return FileReport(
        path=path,
        contract="dataset_document",
        total=total,
        accepted=total - rejected,
        findings=findings,
    )


def in_brackets(text: str, style: str) -> str:
    return f"<{style}>{text}</{style}>"


def junit_suite(file: FileReport) -> ET.Element:
    return ET.fromstring(findings_junit((file,)))[0]


class TestText:
    def test_the_headline_of_a_valid_file_counts_its_records(self) -> None:
        assert list(findings_text(report(), {})) == [
            "a.json  dataset_document  3 record(s): 3 accepted, 0 rejected  ok"
        ]

    @pytest.mark.parametrize(
        ("path", "counts"),
        [("a.jsonl", "  0 record(s): 0 accepted, 0 rejected"), ("sidecar.yaml", "")],
    )
    def test_rows_that_are_not_there_are_counted(self, path: str, counts: str) -> None:
        file = FileReport(path=path, contract="eval_cases", findings=())

        assert list(findings_text(file, {})) == [f"{path}  eval_cases{counts}  ok"]

    def test_a_file_without_records_or_contract_has_a_short_headline(self) -> None:
        file = FileReport(
            path="a.txt", contract=None, findings=(error("unsupported_format", "no"),)
        )
        headline, finding = findings_text(file, {})

        assert headline == "a.txt  unknown  invalid"
        assert finding == "  a.txt: error: no [unsupported_format]"

    @pytest.mark.parametrize(
        ("path", "message", "told"),
        [
            ("", "not JSON", "not JSON"),
            ("id", "missing id", "missing id"),
            ("records[1].input", "input must be a string", "records[1]: input must be a string"),
            ("records[1]", "too large", "records[1]: too large"),
            ("input[0].value", "no such file: a.md", "input[0].value: no such file: a.md"),
        ],
    )
    def test_a_finding_names_what_its_message_does_not(
        self, path: str, message: str, told: str
    ) -> None:
        lines = list(findings_text(report(error("a_code", message, path=path)), {}))

        assert lines[1] == f"  a.json: error: {told} [a_code]"

    @pytest.mark.parametrize(
        ("path", "message", "told"),
        [
            ("id", "Line 4: missing id", "missing id"),
            ("", "Line 4: Invalid JSON - it ends", "Line 4: Invalid JSON - it ends"),
        ],
    )
    def test_a_message_names_its_line_where_it_concerns_the_whole_line(
        self, path: str, message: str, told: str
    ) -> None:
        finding = error("a_code", message, path=path, line=4)
        lines = list(findings_text(report(finding, path="a.jsonl"), {}))

        assert lines[1] == f"  a.jsonl:4: error: {told} [a_code]"

    def test_the_spot_is_marked_and_the_hint_stands_below(self) -> None:
        finding = Finding(
            severity="warning", code="unknown_field", message="unknown field 'tag'", hint="tags?"
        )
        spot = Excerpt(line=7, text='{"tag": 1}', start=1, end=6)

        assert list(findings_text(report(finding), {finding: spot}))[1:] == [
            "  a.json:7: warning: unknown field 'tag' [unknown_field]",
            '         7 | {"tag": 1}',
            "           |  ^^^^^",
            "           = tags?",
        ]

    @pytest.mark.parametrize(
        ("spot", "lines"),
        [
            (Excerpt(line=1, text="  ", start=0, end=1), []),
            (Excerpt(line=1, text="a: b"), ["         1 | a: b"]),
            (
                Excerpt(line=1, text="日本: b", start=0, end=2),
                ["         1 | 日本: b", "           | ^^^^"],
            ),
            (
                Excerpt(line=1, text="e\u0301: b", start=4, end=5),
                ["         1 | e\u0301: b", "           |    ^"],
            ),
            (
                Excerpt(line=1, text="\x1b[2J\ta", start=5, end=6),
                ["         1 | ·[2J·a", "           |      ^"],
            ),
        ],
        ids=["blank", "unmarked", "wide", "combining", "control"],
    )
    def test_a_mark_stands_under_what_a_terminal_shows(
        self, spot: Excerpt, lines: list[str]
    ) -> None:
        finding = error("a_code", "wrong")

        assert list(findings_text(report(finding), {finding: spot}))[2:] == lines

    @pytest.mark.parametrize("place", [0, 10, 500, 985])
    def test_a_long_line_is_cut_around_the_spot(self, place: int) -> None:
        text = "-" * place + '"key"' + "-" * (995 - place)
        finding = error("a_code", "wrong")
        spot = Excerpt(line=1, text=text, start=place, end=place + 5)
        shown, mark = list(findings_text(report(finding), {finding: spot}))[2:]

        assert shown[mark.index("^") : mark.rindex("^") + 1] == '"key"'
        assert len(shown) <= 13 + 88 + 2
        assert shown.startswith("         1 | …") is (place > 16)
        assert shown.endswith("…") is (place < 900)

    def test_many_findings_are_cut_short_and_counted(self) -> None:
        file = report(*(record_error(index) for index in range(1234)), total=2000)
        lines = list(findings_text(file, {}))

        assert len(lines) == 1 + 20 + 1
        assert lines[-1] == "  … and 1,214 more findings; --format json lists all"
        assert shown_findings(file) == file.findings[:20]

    def test_styles_are_painted(self) -> None:
        file = report(record_error(1))
        lines = [
            *findings_text(file, {}, in_brackets),
            *summary_text((file,), ("b",), in_brackets),
        ]

        assert lines[0].endswith("<error>invalid</error>")
        assert "<error>error</error>: records[1]" in lines[1]
        assert lines[1].endswith("<quiet>[invalid_field_type]</quiet>")
        assert lines[2] == "<quiet>1 other file(s) skipped: b</quiet>"
        assert lines[3].startswith("<error>0 of 1 file(s) valid")

    def test_the_summary_counts_files_errors_and_warnings(self) -> None:
        files = (report(), report(record_error(1), warning("unknown_field", "no")))

        assert list(summary_text(files, ())) == ["1 of 2 file(s) valid, 1 error(s), 1 warning(s)"]

    @pytest.mark.parametrize(
        ("skipped", "text"),
        [
            (("a",), "1 other file(s) skipped: a"),
            (("a", "b", "c"), "3 other file(s) skipped: a, b, c"),
            (("a", "b", "c", "d"), "4 other file(s) skipped: a, b, c, …"),
            (("\x1b[2J",), "1 other file(s) skipped: ·[2J"),
        ],
    )
    def test_a_few_of_the_files_passed_over_are_named(
        self, skipped: tuple[str, ...], text: str
    ) -> None:
        assert skipped_text(skipped) == text


class TestJson:
    def test_every_key_of_the_shape_is_there_in_order(self) -> None:
        parsed = json.loads(findings_json((report(record_error(1, record_id="q")),)))
        (file,) = parsed["files"]

        assert list(parsed) == ["files", "summary"]
        assert list(file) == [
            *("path", "contract", "valid", "total", "accepted", "rejected", "findings")
        ]
        assert list(file["findings"][0]) == [
            *("severity", "code", "message", "path", "line", "index", "record_id", "hint")
        ]
        assert parsed["summary"] == {"files": 1, "valid": 0, "errors": 1, "warnings": 0}

    @pytest.mark.parametrize("char", ["\x1b", "\x7f", "\x9b", "\u202e", "\u2028", "\udcff"])
    def test_what_a_terminal_might_obey_is_escaped_and_comes_back(self, char: str) -> None:
        text = findings_json((report(error("a_code", f"a{char}b")),))

        assert char not in text
        assert json.loads(text)["files"][0]["findings"][0]["message"] == f"a{char}b"

    def test_other_text_stays_readable(self) -> None:
        assert "Überprüfung 日本" in findings_json((report(error("a_code", "Überprüfung 日本")),))


class TestGithub:
    @pytest.mark.parametrize(
        ("finding", "line"),
        [
            (error("a_code", "100% wrong\nindeed"), "line=9,title=a_code::100%25 wrong%0Aindeed"),
            (error("a_code", "Line 4: no", line=4), "line=4,title=a_code::no"),
            (error("a_code", "a\x1b[2Jb, c: d"), "line=9,title=a_code::a·[2Jb, c: d"),
        ],
    )
    def test_a_message_is_escaped(self, finding: Finding, line: str) -> None:
        spots = {finding: Excerpt(line=9, text="x")}

        assert list(findings_github(report(finding), spots)) == [f"::error file=a.json,{line}"]

    def test_a_path_is_escaped_more_and_a_hint_added(self) -> None:
        finding = Finding(severity="warning", code="a_code", message="no", hint="yes")
        file = report(finding, path="C:\\a,b%\r.json")

        assert list(findings_github(file, {})) == [
            "::warning file=C%3A\\a%2Cb%25%0D.json,line=1,title=a_code::no (yes)"
        ]


class TestJunit:
    def test_a_valid_file_is_one_case_that_passes(self) -> None:
        suite = junit_suite(report())

        assert suite.attrib == {"name": "a.json", "tests": "1", "failures": "0"}
        assert [dict(case.attrib) for case in suite] == [
            {"name": "file", "classname": "dataset_document"}
        ]
        assert len(suite[0]) == 0

    def test_records_are_cases_of_their_own_whatever_their_names(self) -> None:
        suite = junit_suite(
            report(
                error("payload_too_large", "too large"),
                record_error(1, record_id="file"),
                record_error(2, record_id="same"),
                record_error(3, record_id="same"),
                record_error(4),
            )
        )

        names = [case.get("name") for case in suite]
        assert names == ["file", "file", "same", "same", "record 4"]
        assert suite.get("failures") == "5"

    def test_a_case_has_one_failure_with_all_its_errors_and_its_warnings_as_output(self) -> None:
        first, second = record_error(1), record_error(1, "input is too long")
        hint = Finding(
            severity="warning", code="unknown_field", message="unknown", index=1, hint="known?"
        )
        (failure, output) = junit_suite(report(first, second, hint))[1]

        assert failure.get("message") == (
            "records[1]: input must be a string [invalid_field_type]"
        )
        assert len((failure.text or "").splitlines()) == 2
        assert output.text == "unknown [unknown_field] (known?)"

    def test_control_characters_do_not_break_the_xml(self) -> None:
        finding = record_error(1, "a\x00\x1b\ud800\ufffe b", record_id="\x07")
        suite = junit_suite(report(finding, path="a\x01.json"))

        assert suite.get("name") == "a\ufffd.json"
        assert suite[1].get("name") == "\ufffd"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain, ünïcödé 日本", "plain, ünïcödé 日本"), ("a\nb\tc\x00", "a·b·c·"), ("", "")],
)
def test_printable_text_cannot_move_the_cursor(text: str, shown: str) -> None:
    assert printable(text) == shown
