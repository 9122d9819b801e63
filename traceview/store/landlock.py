"""Takes from this thread, and those it starts, the right to change files: Landlock of Linux, which needs no privileges.

Where the system has none (Linux before 5.13, other systems, some containers) nothing is taken.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls, the same on every machine that Linux 5.13 runs on."""
PR_SET_NO_NEW_PRIVS = 38
VERSION = 1
PATH_BENEATH = 1
CHANGES = (1 << 1) | sum(1 << bit for bit in range(4, 13))
"""Rights of version 1: to write files, and to make and remove files and folders of any kind."""
SINCE = {2: 1 << 13, 3: 1 << 14}
"""Rights that later versions know: to move files between folders, and to truncate them."""


def write_only_in(folder: Path | None) -> bool:
    """Let this process change, make and remove files below `folder` only, or nowhere; return whether that worked.

    What is open stays as it is. It cannot be undone.
    """
    if sys.platform != "linux":
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    version = call(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION)
    if version < 1:
        return False
    rights = CHANGES | sum(right for since, right in SINCE.items() if version >= since)
    rules = call(CREATE_RULESET, struct.pack("Q", rights), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    try:
        if folder:
            place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
            finally:
                os.close(place)
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(call(RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)
