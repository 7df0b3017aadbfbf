"""The program of a `command` target, out of the project file."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.formats.json_fields import text_list
from steelyard.formats.names import did_you_mean
from steelyard.operating_system import IS_WINDOWS
from steelyard.settings import NO_RULES, TIMEOUT_S, RedactionRules
from steelyard.targets.json_template import as_text
from steelyard.targets.target_settings import TargetSettings

PLACEHOLDER = re.compile(r"\{([A-Z][A-Z_]*)\}")
_SCRIPTS = (".bat", ".cmd")
PLACEHOLDERS = ("PROMPT", "PROMPT_FILE", "ID", "OUTPUT_FILE")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings:
    """The program, how it is asked, and where it runs."""

    command: tuple[str, ...]
    program: str
    """Where the first word of the command leads."""
    folder: Path
    environ: Mapping[str, str]
    """All that the program sees of the environment."""
    added: tuple[str, ...] = ()
    """The names among them that the project file adds."""
    secrets: tuple[str, ...] = ()
    rules: RedactionRules = NO_RULES
    """What no message may show, beside secrets."""
    timeout_s: float = TIMEOUT_S

    @property
    def placeholders(self) -> frozenset[str]:
        """The names of the placeholders in the arguments."""
        return frozenset(name for word in self.command[1:] for name in PLACEHOLDER.findall(word))


def command_settings(given: TargetSettings, root: Path) -> CommandSettings:
    """The settings of a program that is there; it runs in the project's root."""
    given.needed("command")
    command = tuple(text_list(given.entry.extra, "command"))
    added = {name: as_text(value) for name, value in given.object("env").items()}
    environ = {**given.environ, **added}
    made = CommandSettings(
        command=command,
        program=_program(given, command[0], root, environ.get("PATH")),
        folder=root,
        environ=environ,
        added=tuple(added),
        secrets=(*given.outside("env"), *given.named_secrets),
        rules=given.rules,
        timeout_s=given.timeout_s,
    )
    for name in sorted(made.placeholders.difference(PLACEHOLDERS)):
        hint = did_you_mean(name, PLACEHOLDERS)
        meant = f" ({hint})" if hint else ""
        known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        raise given.wrong(f"unknown placeholder {{{name}}}{meant} in 'command'; known: {known}")
    return made


def _program(given: TargetSettings, name: str, root: Path, search: str | None) -> str:
    """A path from the project's root, or a name on the PATH."""
    found = _found(given, name, root, search)
    if IS_WINDOWS and found.lower().endswith(_SCRIPTS):
        reason = "Windows runs it in a shell, to which a prompt can give commands"
        raise given.wrong(f"{found} is a batch file: {reason}; name the program that it starts")
    return found


def _found(given: TargetSettings, name: str, root: Path, search: str | None) -> str:
    if Path(name).name == name:
        found = shutil.which(name, path=search)
        if found is None:
            raise given.wrong(f"there is no program '{name}' on the PATH")
        return str(Path(found).absolute())
    path = root / name
    if not path.exists():
        raise given.wrong(f"there is no program {path}")
    if not path.is_file() or not os.access(path, os.X_OK):
        raise given.wrong(f"{path} cannot be executed")
    return str(path)
