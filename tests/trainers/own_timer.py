"""The timer of the programs in this folder: when what ends a step began and ended, and how many steps there were."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

ends: list[list[int]] = []


def timed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call what ends a step."""
    ends.append([time.time_ns(), 0])
    result = function(*args, **kwargs)
    ends[-1][1] = time.time_ns()
    return result


def say(count: int) -> None:
    """The last line of a program."""
    print(json.dumps({"steps": count, "ends": ends}))
