"""Does tasks of traceview in the Python of the user, where traceview may be absent: `python worker.py [FILE]`.

A task is a line of JSON on stdin, or in FILE; its `kind` is one of KINDS. Answers are lines of JSON on stdout, the last
one of a task with `done` and the processor seconds of this process. What models and libraries print on stdout goes to
stderr, so that it never reaches the answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

PACKAGE = "traceview_convolution"
KINDS = {
    "open": "groups",
    "group": "groups",
    "layers": "model",
    "shapes": "model",
    "candidates": "candidates",
    "train": "training",
    "confirm": "training",
    "whole": "training",
}
"""Module of each kind of task; its function of that name takes the task and `say`, and may return what `done` tells."""


def load(folder: Path) -> None:
    """Import the package beside this file under a name of its own."""
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec and spec.loader
    sys.modules[PACKAGE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[PACKAGE])


def main(arguments: list[str]) -> None:
    """Do the tasks, one after the other."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    here = Path(__file__).resolve().parent
    # Python put this folder first, where its modules would stand before others of their names.
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != here]
    load(here)

    def say(**what: Any) -> None:
        print(json.dumps(what), file=answers, flush=True)

    with Path(arguments[0]).open(encoding="utf-8") if arguments else sys.stdin as tasks:
        for line in tasks:
            task = json.loads(line)
            module = importlib.import_module(f"{PACKAGE}.{KINDS[task['kind']]}")
            found = getattr(module, task["kind"])(task, say)
            say(done=True, cpu_s=time.process_time(), **(found or {}))


if __name__ == "__main__":
    main(sys.argv[1:])
