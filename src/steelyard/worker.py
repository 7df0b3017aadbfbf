"""A process that works on a part of a run which another process holds.

Started by `steelyard run --workers` as `python -m steelyard.worker` with the project's root, the
run, its fence, the part (`0/2`) and the names of the targets. What happens is told on standard
output, a byte each; what is wrong, on standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.usecases.run_ports import Part
from steelyard.usecases.workers import work_on_part
from steelyard.wiring import run_async, run_door, spare_collector


def main(words: list[str]) -> int:
    """Work on the part; 0 when it is done, 3 when it cannot go on, 130 when it was stopped."""
    root, run_id, fence, part, *targets = words
    number, of = (int(one) for one in part.split("/"))
    os.chdir(root)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        door = run_door(Path(root))
        door.repository.adopt(run_id, int(fence))
        spare_collector()
        run_async(lambda: work_on_part(door, run_id, Part(number, of), targets, _tell))
        door.repository.close()
    except SteelyardError as error:
        sys.stderr.write(f"steelyard: {error}\n")
        return 3
    except KeyboardInterrupt:
        return 130
    finally:
        # On the way out there is nothing left to break off in order.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return 0


def _tell(said: bytes) -> None:
    os.write(1, said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
