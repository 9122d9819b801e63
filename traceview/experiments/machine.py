"""Facts of the machine that an experiment runs on, as `traceview collect` notes them of a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from traceview.paths import content

PROGRAM = "import json; from traceview_inject import raw; print(json.dumps(raw.process_facts()))"
LONGEST_S = 60


def facts() -> dict[str, Any]:
    """Processor, memory, limits of the container, driver, system, named variables; empty where they cannot be had."""
    place = {"PYTHONPATH": str(content("collectors") / "inject")}
    try:
        words = [sys.executable, "-S", "-c", PROGRAM]
        told = subprocess.run(words, env=os.environ | place, capture_output=True, timeout=LONGEST_S, check=True)
        found = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return {name: value for name, value in found.items() if name not in ("schema", "pid", "options")}
