"""C's stdout for a while in a file: oneDNN's lines stay there, all else comes out as it went in."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import ctypes, os, pathlib, sys
sys.path.insert(0, sys.argv[1])
from traceview_inject import onednn
libc = ctypes.CDLL(None)
account = onednn.Account(pathlib.Path(sys.argv[2]), lambda level: print("switched", level, flush=True))
libc.printf(b"before;")
account.start()
libc.printf(b"onednn_verbose,v1,info,oneDNN v3.12.0 (commit 1)\\n")
libc.printf(b"a line\\nno end;onednn_verbose,v1,exec\\n\\xff\\x00")
print("python", flush=True)
os.system("echo child")
print(account.stop(), flush=True)
libc.printf(b"after\\n")
print(onednn.version(account.path), flush=True)
"""


def test_lines_are_kept_and_other_output_is_handed_on(tmp_path, inject):
    log = tmp_path / "log"
    done = subprocess.run([sys.executable, "-c", PROGRAM, inject, log], capture_output=True)
    assert done.stderr == b""
    assert log.read_bytes() == b"onednn_verbose,v1,info,oneDNN v3.12.0 (commit 1)\nonednn_verbose,v1,exec\n"
    python = b"switched 1\npython\nchild\nswitched 0\n2\nv3.12.0\n"
    # C's printf ends its %-free text at the first NUL; buffered by C or not, its own order is kept.
    printed = b"before;a line\nno end;\xffafter\n"
    rest = done.stdout
    for line in python.splitlines(keepends=True):
        rest = rest.replace(line, b"", 1)
    assert rest == printed


def test_a_users_own_verbose_mode_is_left_alone(inject, monkeypatch):
    from traceview_inject import onednn

    monkeypatch.setenv("ONEDNN_VERBOSE_TIMESTAMP", "1")
    monkeypatch.setenv("ONEDNN_VERBOSE", "0")
    assert onednn.request_timestamps()
    monkeypatch.setenv("DNNL_VERBOSE", "1")
    assert not onednn.request_timestamps()


STANDING = """
import ctypes, os, pathlib, sys
sys.path.insert(0, sys.argv[1])
from traceview_inject import onednn
libc = ctypes.CDLL(None)
account = onednn.StandingAccount(lambda: pathlib.Path(f"{sys.argv[2]}-{os.getpid()}"))
account.open()
switches = [os.environ.get(name) for name in ("ONEDNN_VERBOSE", "TRACEVIEW_ONEDNN")]
libc.printf(b"onednn_verbose,v1,info,oneDNN v3.7.3 (commit 1)\\n")
libc.printf(b"onednn_verbose,v1,1.0,primitive,exec,before\\n")
account.start()
libc.printf(b"one;onednn_verbose,v1,2.0,primitive,exec,within\\n")
libc.printf(b"no end;")
count = account.stop(pathlib.Path(sys.argv[2]))
libc.printf(b"onednn_verbose,v1,3.0,primitive,exec,after\\n")
libc.printf(b"two\\n")
child = os.fork()
if not child:
    account.forked()
    libc.printf(b"onednn_verbose,v1,4.0,primitive,exec,child\\n")
    libc.printf(b"child\\n")
    account.close()
    libc.fflush(None)
    os._exit(0)
os.waitpid(child, 0)
account.close()
libc.printf(b"last\\n")
libc.fflush(None)
print(count, switches, "ONEDNN_VERBOSE" in os.environ, account.path.exists())
"""


def test_an_account_that_cannot_be_switched_off_hands_on_what_is_not_its_own(tmp_path, inject):
    log = tmp_path / "log"
    # A program's own buffer comes twice out of a fork with or without us: it is to have none.
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    # Python 3.12 and later warn of forks beside threads, and the account has one.
    quiet = [sys.executable, "-W", "ignore::DeprecationWarning:__main__"]
    done = subprocess.run([*quiet, "-c", STANDING, inject, log], capture_output=True, text=True, env=unbuffered)
    assert done.stderr == ""
    # The child may be first or last, but what its parent still had to write is written once.
    before, child, after = done.stdout.partition("child\n")
    assert child and before + after == "one;no end;two\nlast\n1 ['1', '1'] False False\n"
    assert log.read_text().splitlines() == [
        "onednn_verbose,v1,info,oneDNN v3.7.3 (commit 1)",
        "onednn_verbose,v1,2.0,primitive,exec,within",
    ]
