"""`steelyard completion`: a script that completes the command line, without starting Python."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from steelyard.cli.terminal import show


class Shell(StrEnum):
    """The shells that scripts are written for."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


_KINDS = {
    "target": "target",
    "suite": "suite",
    "from_run": "run",
    "run": "run",
    "run_id": "run",
    "runs": "run",
}
"""Parameters whose values are names of the project."""

# Plain sh, so that it is the same for every shell. Names come from files of others: what is no
# plain name is left out, and nothing is evaluated.
_CANDIDATES = r"""
table() { cat <<'STEELYARD'
@TABLE@
STEELYARD
}
project() {
  folder=$PWD
  while [ ! -f "$folder/steelyard.yaml" ] && [ ! -d "$folder/.steelyard" ]; do
    [ "$folder" = / ] && return 1
    folder=$(dirname "$folder")
  done
}
keys() {
  project && awk -v part="$1" '
    /^[^ #]/ { on = ($0 ~ "^" part ":"); indent = -1; next }
    on && match($0, /^ +/) {
      if (indent < 0) indent = RLENGTH
      name = substr($0, RLENGTH + 1)
      if (RLENGTH == indent && match(name, /^[A-Za-z0-9_.-]+:/)) print substr(name, 1, RLENGTH - 1)
    }' "$folder/steelyard.yaml"
}
runs() {
  printf 'latest\nlatest~1\n'
  project && ls -r "$folder/.steelyard/runs" | grep '^run_[A-Za-z0-9]*$' | head -n 20
}
values() {
  case $1 in
    target) keys targets; echo echo ;;
    suite) keys suites ;;
    run) runs ;;
    =*) echo "${1#=}" | tr '|' '\n' ;;
  esac
}
current= previous=
for word; do previous=$current current=$word; done
path=
if [ $# -gt 1 ]; then
  path=$1
  if [ $# -gt 2 ] && table | grep -q "^C	$1	"; then path="$1 $2"; fi
fi
export path previous
kind=$(table | awk -F'\t' '
  $1 == "O" && $2 == ENVIRON["path"] && $4 != "flag" {
    n = split($3, names, " ")
    for (i = 1; i <= n; i++) if (names[i] == ENVIRON["previous"]) print $4
  }')
if [ -n "$kind" ]; then
  values "$kind"
else
  case $current in
    -*) table | awk -F'\t' '
      $1 == "O" && $2 == ENVIRON["path"] {
        n = split($3, names, " ")
        for (i = 1; i <= n; i++) print names[i] "\t" $5
      }' ;;
    *)
      table | awk -F'\t' '$1 == "C" && $2 == ENVIRON["path"] { print $3 "\t" $4 }'
      values "$(table | awk -F'\t' '$1 == "A" && $2 == ENVIRON["path"] { print $3; exit }')" ;;
  esac
fi 2>/dev/null
""".strip()
_BASH = r"""
_steelyard_candidates=@CANDIDATES@
_steelyard() {
  local current=${COMP_WORDS[COMP_CWORD]} word _
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case $word in "$current"*) COMPREPLY+=("$word") ;; esac
  done < <(sh -c "$_steelyard_candidates" steelyard "${COMP_WORDS[@]:1:COMP_CWORD}")
}
complete -o default -F _steelyard steelyard
""".strip()
_ZSH = r"""
#compdef steelyard
_steelyard_candidates=@CANDIDATES@
_steelyard() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("${line/$'\t'/:}")
  done < <(sh -c "$_steelyard_candidates" steelyard "${(@)words[2,CURRENT]}")
  if (( $#found )); then _describe steelyard found; else _files; fi
}
if [ "$funcstack[1]" = _steelyard ]; then _steelyard "$@"; else compdef _steelyard steelyard; fi
""".strip()
_FISH = r"""
set -g __steelyard_candidates @CANDIDATES@
function __steelyard_complete
    set -l current (commandline -ct)
    set -l words (commandline -opc)
    set -e words[1]
    set -l found (sh -c $__steelyard_candidates steelyard $words "$current")
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c steelyard -f -a '(__steelyard_complete)'
""".strip()


def command(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes commands and options in a shell."""
    show(completion_script(shell, context.obj()))


def completion_script(shell: Shell, commands: Any) -> str:
    """The script of a shell for a command line; it does not change with the project."""
    candidates = _CANDIDATES.replace("@TABLE@", "\n".join(table_lines(commands)))
    template, quoted = _SCRIPTS[shell]
    return template.replace("@CANDIDATES@", quoted(candidates))


def table_lines(commands: Any, path: str = "") -> Iterator[str]:
    """What can be typed: commands (C), options (O) and arguments (A) beneath each command."""
    for name, one in getattr(commands, "commands", dict[str, Any]()).items():
        yield _line("C", path, name, _short(one.get_short_help_str(limit=70)))
        yield from table_lines(one, f"{path} {name}".strip())
    for one in commands.params:
        if one.param_type_name == "argument":
            yield _line("A", path, _kind(one))
        elif not one.hidden:
            names = " ".join((*one.opts, *one.secondary_opts))
            yield _line("O", path, names, _kind(one), _short(one.help or ""))
    yield _line("O", path, "--help", "flag", "Show the help.")


def _kind(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        return "flag"
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return f"={'|'.join(choices)}"
    return _KINDS.get(parameter.name, "file")


def _short(text: str) -> str:
    return " ".join(text.split()).partition("; ")[0]


def _line(*cells: str) -> str:
    return "\t".join(cells)


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS: Mapping[Shell, tuple[str, Callable[[str], str]]] = {
    Shell.bash: (_BASH, shlex.quote),
    Shell.zsh: (_ZSH, shlex.quote),
    Shell.fish: (_FISH, _fish_quoted),
}
