"""Runs cells as a notebook does: in one namespace, within a running event loop.

    python notebook_cells.py FILE

FILE is a JSON list of cells. The HTML of what the last line of a cell shows is printed.
"""

from __future__ import annotations

import ast
import asyncio
import json
import sys
from pathlib import Path
from typing import Any


async def main(cells: list[str]) -> None:
    """Run all cells."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            sys.stdout.write(shown._repr_html_())


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
