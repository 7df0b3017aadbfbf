"""`command`: a program of the user's looks at the trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from steelyard.checks.code_judging import GradingProgram, payload_of
from steelyard.checks.programs import NoPrograms, Programs
from steelyard.checks.setting_rules import PORT, Rule
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import Extra
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import PASS_THRESHOLD
from steelyard.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program of yours gives a score; passed at the threshold.

    It is told about the trace as JSON on its standard input, and says what it finds as JSON on its
    standard output. One that fails, or whose output is no such JSON, leaves the check unscored.
    """

    kind: ClassVar[str] = "command"
    runs_commands: ClassVar[bool] = True
    needs_commands: ClassVar[bool] = True
    """A run without leave to run programs is refused."""
    rules: ClassVar[Extra] = {
        "allOf": [
            {
                "properties": {
                    "target": {
                        "not": {},
                        "x-instead": "ask a judge in a check of kind llm_judge beside it",
                    }
                }
            }
        ]
    }

    script: Annotated[
        str | tuple[str, ...],
        Rule("The program as a list of words, or one shell command.", {"pattern": r"\S"}),
    ]
    cwd: Annotated[
        str | None, Rule("The folder where it runs, from the project's root; the root without it.")
    ] = None
    config: Annotated[Extra | None, Rule("Handed to the program.")] = field(
        default=None, hash=False
    )
    threshold: Annotated[
        float, Rule("The score at which the check passes.", {"minimum": 0, "maximum": 1})
    ] = PASS_THRESHOLD
    timeout_s: Annotated[float, Rule("Seconds that it may take.", {"exclusiveMinimum": 0})] = 60.0
    near: str | None = field(default=None, metadata=PORT)
    """The file that states it, from which its folder counts; without one the project's root."""
    programs: Programs = field(
        default_factory=NoPrograms, repr=False, compare=False, metadata=PORT
    )

    def __post_init__(self) -> None:
        """Refuse a program without a name."""
        if not self.script or not self.script[0].strip():
            raise SettingError("script", "the program must have a name")

    @property
    def program(self) -> GradingProgram:
        """The program with what it may take."""
        return GradingProgram(
            script=self.script,
            timeout_s=self.timeout_s,
            threshold=self.threshold,
            folder=self.cwd,
            near=self.near,
        )

    def files(self) -> Mapping[str, str]:
        """The sha256 of each file of the program, by its path."""
        return self.program.files(self.programs)

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Ask the program."""
        payload = payload_of(trace, case)
        payload["config"] = None if self.config is None else dict(self.config)
        return self.program.judge(self.programs, payload)
