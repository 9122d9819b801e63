"""Whether a process still runs."""

from __future__ import annotations

from pathlib import Path


def is_running(pid: int) -> bool:
    """One that has ended has no environment, also where nobody has asked for its exit code."""
    try:
        return bool(Path(f"/proc/{pid}/environ").read_bytes())
    except OSError:
        return False
