"""What redaction leaves alone in the rows that a run writes: the numbers and hashes of our own.

A digest may consist of digits and a seed may be as long as the number of a card, so that no
pattern can tell them from what a target or an author has written. Their places can.
"""

from __future__ import annotations

from steelyard.model.exemption import Exemption

_TIMES = ("latency_ms", "first_token_ms")
_TRACE = (
    *("trace.latency_ms", "trace.first_token_ms"),
    *("trace.usage.input_tokens", "trace.usage.output_tokens"),
)
_TRIED = ("attempts", "first_attempt_at", "last_attempt_at", "response_source", "cost_usd")
_RECORD = ("index", "repeat", "status", "copied_from")

PREDICTION = Exemption.of(
    *(*_RECORD, *_TRIED, *_TRACE, "record_sha256", "score", "raw_score", "passed"),
    *("input_tokens", "output_tokens", "total_tokens", *_TIMES, "judging", "cluster"),
    *("request.sent", "request.sha256"),
    *("request.messages.content.sha256", "request.messages.content.size"),
)
SCORE = Exemption.of(
    *("score", "raw_score", "passed", "status", "weight", "required"), numbers=("answers",)
)
JUDGED_SCORE = Exemption(SCORE.values, Exemption.of(numbers=("answers", "details")).numbers)
"""Of a check that a judge decides: its details have seeds, turns and answers on a scale."""
VALIDATION = Exemption.of(
    *("index", "result", "record_sha256"),
    *("errors.severity", "errors.code", "errors.line", "errors.index"),
)
FAILURE = Exemption.of(*_RECORD, "attempts")
FACTS = Exemption.of("status", "cluster", "questions.*.asked", numbers=("",))
ATTEMPT = Exemption.of("at", "error_code", "copied_from", numbers=("",))
ANSWERED = Exemption.of(*_TRIED, *_TRACE, "saved_usd", "answer_key")
JUDGEMENT = Exemption.of(
    *("index", "repeat", "turn", "sample", "round", "fingerprint", "error_code"),
    *("attempts", "cost_usd", "saved_usd", *_TRACE),
)
PROMPT = Exemption.of("frame", "nonce")
INPUT = Exemption.of("source.*")
_COMPARED = "derived_from.against"
_DERIVED = ("derived_from", _COMPARED, f"{_COMPARED}.titles", f"{_COMPARED}.left_out")
MANIFEST = Exemption.of(
    *("run_id", "group_id", "status", "created_at", "started_at", "completed_at", "states"),
    *("interruptions", "contract", "source.*", "graders", "retry", "harness", "artifacts"),
    *("rubrics.sha256", "rubrics.grading_sha256", "rubrics.combine", "policies.sha256"),
    *("judges.sha256", "judges.template_sha256", "judges.fingerprint", "judges.fingerprints"),
    *("templates.sha256", "prices.source", "prices.as_of"),
    *("derived_from.run_id", "derived_from.how"),
    *("options.derived_from.run_id", "options.derived_from.how"),
    # What a project sets, such as a seed, is needed to repeat the run.
    numbers=("",),
    parts=(
        *(
            "source",
            "environment",
            "rubrics",
            "programs",
            "policies",
            "templates",
            "judges",
            "prices",
        ),
        *("probes", "prices", "targets", "targets.*", "judge_targets", "judge_targets.*"),
        *("options", "options.gates", "options.require_validated"),
        *(*_DERIVED, *(f"options.{part}" for part in _DERIVED)),
    ),
)
