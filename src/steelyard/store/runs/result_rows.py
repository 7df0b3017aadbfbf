"""What a run keeps as the rows of its tables, with nothing in them that nobody may see."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import structs

from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.contracts.trace.writer import trace_row
from steelyard.engine.claims import Call
from steelyard.engine.pending_rows import answered_row, judgement_row
from steelyard.engine.redaction.redactor import Redactor, json_bytes
from steelyard.formats.encoding import without_surrogates
from steelyard.formats.json_fields import object_list
from steelyard.model.exemption import Exemption
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judgement import Judgement
from steelyard.model.run import Private, Result
from steelyard.model.verdict import CheckResult
from steelyard.results import exemptions
from steelyard.results.attempts import Attempt
from steelyard.results.facts import Facts, facts_of
from steelyard.results.failures import FAILURE_STATUSES, failure_of
from steelyard.results.metrics import Value
from steelyard.results.predictions import CheckScore, Prediction, prediction_of, score_of
from steelyard.results.record_validation import record_validation_of
from steelyard.results.requests import LONG, request_row
from steelyard.store.runs.kept_prompts import kept_prompt, packed_prompt
from steelyard.store.runs.listed_columns import listed_in, listed_of
from steelyard.store.runs.row_writer import Rows, TableRow
from steelyard.store.tables import NO_RECORD

MOST_KNOWN = 65_536
"""So many texts are known at a time; what is forgotten counts as seen for the first time."""

_KNOWN_IDS = 1000
_SAID_SIGN = b"\0"
"""Stands for a text in JSON, where nothing else does, while a row is looked at."""
_SAID = cast(str, msgspec.Raw(_SAID_SIGN))
_encoder = msgspec.json.Encoder()
_encode, _encode_lines = _encoder.encode, _encoder.encode_lines


class RequestPartRows:
    """Tells which long texts are shown again, without keeping any of them in memory.

    The first record that shows a text has it in full, so that what only one shows is where
    everybody looks for it.
    """

    def __init__(self, run_id: str, redact: Redactor) -> None:
        self._run_id = run_id
        self._redact = redact
        self._known: dict[bytes, str | None] = {}
        """Digests of texts, and the hash of each that is kept beside, as it was redacted."""
        self._new: list[TableRow] = []

    def keep_beside(self, text: str) -> str | None:
        """The hash of a text that was shown before; None for one that is new."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[digest] = None
            return None
        sha256 = self._known[digest]
        if sha256 is None:
            sha256 = self._known[digest] = self._kept(text)
        return sha256

    def take(self) -> list[TableRow]:
        """The rows of the texts that are kept beside since this was asked last."""
        new, self._new = self._new, []
        return new

    def _kept(self, text: str) -> str:
        data = self._redact(json_bytes(text))
        sha256 = hashlib.sha256(msgspec.json.decode(data, type=str).encode("utf-8")).hexdigest()
        self._new.append((self._run_id, sha256, data))
        return sha256


class ResultRows:
    """Makes the rows of one run."""

    def __init__(self, run_id: str, redact: Redactor) -> None:
        self._run_id = run_id
        self._redact = redact
        self._ids: dict[str, str] = {}
        self._parts = RequestPartRows(run_id, redact)

    def of_result(self, result: Result, attempts: Sequence[Attempt]) -> Rows:
        """A result with its attempts."""
        checked = result.verdict.results if result.verdict else ()
        is_failure = result.status in FAILURE_STATUSES
        seen, texts = _prediction_lines(
            self._prediction(result),
            record_validation_of(result),
            facts_of(result),
            *[_score(entry) for entry in checked],
            *attempts,
            *([failure_of(result)] if is_failure else ()),
        )
        made, private = texts, result.private
        asked = result.asking.sha256 if result.asking else ""
        self._redact.carry(*texts, seen=seen)

        def exempt() -> Iterator[Exemption]:
            yield from (exemptions.PREDICTION, exemptions.VALIDATION, exemptions.FACTS)
            yield from map(_exempt_score, checked)
            yield from (exemptions.ATTEMPT for _ in attempts)
            yield from [exemptions.FAILURE] * is_failure

        if private:
            each = zip(texts, exempt(), strict=True)
            texts = [self._redact.without(text, private, ours) for text, ours in each]
            seen = ()
        own = result.record_sha256 or "", asked
        clean = self._redact.each(texts, exempt, [one.encode("ascii") for one in own], seen)
        place = self._run_id, result.index, result.repeat
        prediction, validation, facts, *others = clean
        failure = others.pop() if is_failure else None
        listed = listed_of(result) if clean is made else listed_in(prediction, failure)
        return Rows(
            results=[(*place, result.status, prediction, validation, failure, facts, *listed)],
            scores=[
                (
                    *place,
                    number,
                    self._id(entry, number, private),
                    others[number],
                    entry.outcome.passed,
                )
                for number, entry in enumerate(checked)
            ],
            attempts=self._tried(attempts, others[len(checked) :]),
            answers=[(*place, result.answer_key)] if result.answer_key else [],
            settled=[place] if result.judging else [],
            parts=self._parts.take(),
            redactions=self._redact.take_counts(),
        )

    def of_warning(self, message: str, at: str) -> Rows:
        """What was warned of, in which nothing is counted as redacted."""
        return Rows(warnings=[(without_surrogates(self._redact.text(message)), at)])

    def of_attempts(self, attempts: Sequence[Attempt], private: Private = ()) -> Rows:
        """Attempts that came to no result yet, of a record with such values."""
        _, tried = self._cleared((), private, attempts, ())
        return Rows(attempts=tried, redactions=self._redact.take_counts())

    def of_answer(self, result: Result, attempts: Sequence[Attempt]) -> Rows:
        """An answer that is yet to be judged, with its attempts."""
        rows = [(answered_row(result), exemptions.ANSWERED)]
        key = result.answer_key.hex() if result.answer_key else ""
        (answered,), tried = self._cleared(rows, result.private, attempts, (key,))
        return Rows(
            attempts=tried,
            answered=[(self._run_id, result.index, result.repeat, answered)],
            redactions=self._redact.take_counts(),
        )

    def of_judgement(self, judgement: Judgement, attempts: Sequence[Attempt]) -> Rows:
        """What came of a call to a judge, with its last attempt."""
        prompt = kept_prompt(judgement.prompt, judgement.nonce)
        rows = [(prompt, exemptions.PROMPT), (judgement_row(judgement), exemptions.JUDGEMENT)]
        name = self._name(judgement.judge)
        own = [judgement.key, judgement.fingerprint, judgement.nonce]
        if name == judgement.judge:
            own.append(name)
        (prompted, kept), tried = self._cleared(rows, judgement.private, attempts, own)
        row = (
            self._run_id,
            NO_RECORD if judgement.index is None else judgement.index,
            judgement.repeat,
            judgement.key,
            name,
            judgement.target,
            judgement.fingerprint,
            judgement.cache_key,
            kept,
            packed_prompt(prompted),
        )
        return Rows(attempts=tried, judgements=[row], redactions=self._redact.take_counts())

    def _cleared(
        self,
        rows: Sequence[tuple[JsonObject, Exemption]],
        private: Private,
        attempts: Sequence[Attempt],
        own: Sequence[str],
    ) -> tuple[Sequence[bytes], list[TableRow]]:
        """Rows without what nobody may see, and attempts; one look at all of them, if it can."""
        exempt = [*(ours for _, ours in rows), *(exemptions.ATTEMPT for _ in attempts)]
        seen, texts = _lines([*(row for row, _ in rows), *attempts])
        self._redact.carry(*texts, seen=seen)
        if private:
            each = zip(texts, exempt, strict=True)
            texts = [self._redact.without(text, private, ours) for text, ours in each]
            seen = ()
        clean = self._redact.each(texts, lambda: exempt, [one.encode() for one in own], seen)
        return clean[: len(rows)], self._tried(attempts, clean[len(rows) :])

    def _prediction(self, result: Result) -> Prediction:
        trace = trace_row(result.trace) if result.trace else None
        return prediction_of(result, trace=trace, request=self._request(result))

    def _request(self, result: Result) -> JsonObject | None:
        """What was asked; nothing private is kept beside, where others would refer to it."""
        if not result.private:
            return request_row(result, self._parts.keep_beside)
        return request_row(result, lambda _: None)

    def of_claim(self, holder: str, calls: Mapping[str, Sequence[Call]]) -> Rows:
        """The calls that may be under way, which replace those that were so before."""
        row = _encode(calls)
        if self._redact(row) is not row:
            # The times that calls are kept by stay whatever they look like.
            row = _encode({at: self._redacted(made) for at, made in calls.items()})
        self._redact.take_counts()  # they are counted where they are kept for good
        return Rows(claims={holder: row})

    def _redacted(self, calls: Sequence[Call]) -> msgspec.Raw:
        return msgspec.Raw(self._redact(_encode(calls), exempt=exemptions.ATTEMPT))

    def _tried(self, attempts: Sequence[Attempt], texts: Sequence[bytes]) -> list[TableRow]:
        return [
            (
                self._run_id,
                NO_RECORD if tried.index is None else tried.index,
                tried.repeat,
                tried.place,
                tried.attempt,
                text,
            )
            for tried, text in zip(attempts, texts, strict=True)
        ]

    def _id(self, entry: CheckResult, place: int, private: Private) -> str:
        """A check's id as it may be written; two that differ stay two."""
        check = entry.check
        clean = self._redact.name(check, private) if private else self._name(check)
        return clean if clean == entry.check else f"{clean} {place}"

    def _name(self, name: str) -> str:
        """A name that many rows share, as it may be written."""
        clean = self._ids.get(name)
        if clean is None:
            if len(self._ids) >= _KNOWN_IDS:
                self._ids.clear()
            clean = self._ids[name] = self._redact.text(name)
        return clean


def _score(entry: CheckResult) -> CheckScore:
    answers = entry.outcome.answers
    return score_of(entry, answers_row(answers) if answers else None)


def _exempt_score(entry: CheckResult) -> Exemption:
    return exemptions.JUDGED_SCORE if entry.outcome.judge else exemptions.SCORE


def _prediction_lines(
    made: Prediction, *others: Facts | Value
) -> tuple[Sequence[bytes], list[bytes]]:
    """The same of a prediction and what follows; a long answer is looked at once, by itself."""
    said = made.model_response or ""
    if len(said) < LONG or not made.trace:
        return _lines((made, *others))
    marked = structs.replace(made, model_response=_SAID, trace=_without_said(made.trace, said))
    try:
        answer = _encode(said)
        rest = _encode_lines((marked, *others))
    except UnicodeEncodeError:
        return _lines((made, *others))
    texts = rest.split(b"\n")[:-1]
    texts[0] = texts[0].replace(_SAID_SIGN, answer)
    return (rest, answer), texts


def _without_said(trace: JsonObject, text: str) -> JsonObject:
    """A trace with a sign in the place of each content that is the whole of a text."""
    messages = [
        {**row, "content": _SAID} if row.get("content") == text else row
        for row in object_list(trace, "messages")
    ]
    return {**trace, "messages": cast(JsonValue, messages)}


def _lines(rows: Sequence[JsonObject | Facts | Value]) -> tuple[Sequence[bytes], list[bytes]]:
    """Rows in one text with a line for each, and each by itself; JSON has no line breaks."""
    try:
        data = _encode_lines(rows)
    except UnicodeEncodeError:
        texts = [_bytes(row) for row in rows]
        return (b"\n".join(texts),), texts
    return (data,), data.split(b"\n")[:-1]


def _bytes(row: JsonObject | Facts | Value) -> bytes:
    try:
        return _encode(row)
    except UnicodeEncodeError:
        return json_bytes(msgspec.to_builtins(row))
