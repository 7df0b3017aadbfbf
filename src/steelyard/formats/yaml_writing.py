"""Values to YAML that reads back the same by the core rules of YAML 1.2."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import yaml

from steelyard.formats.yaml_text import is_plain_text
from steelyard.model.json_value import JsonValue

_STR = "tag:yaml.org,2002:str"
# YAML 1.1 breaks lines here and YAML 1.2 does not; escaped, both read the same.
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")


class _Dumper(yaml.SafeDumper):
    """Quotes every text that would be read back as something else; writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    represent = cast(Callable[..., yaml.ScalarNode], cast(Any, dumper).represent_scalar)
    if not is_plain_text(text) or _ODD_BREAK.search(text):
        return represent(_STR, text, style='"')
    return represent(_STR, text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def write_yaml(value: JsonValue) -> bytes:
    """A value as YAML in the order of its keys, long texts as blocks."""
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text.encode("utf-8")
