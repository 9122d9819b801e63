"""When NVTX ranges are recorded: from the start of a recording to its end, and what is open then until it closes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BUILDER = Path(__file__).parents[3] / "collectors" / "nvtx_injection.py"


@pytest.fixture
def ranges(monkeypatch, tmp_path):
    """The collectors' side of a receiver of this test's own, and the calls that NVTX would make."""
    if not sys.platform.startswith("linux") or not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs Linux and a C compiler")
    done = subprocess.run([sys.executable, BUILDER], capture_output=True, text=True, check=True)
    library = tmp_path / "traceview-nvtx-test.so"
    shutil.copy(done.stdout.strip(), library)
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(library))
    from traceview_inject import nvtx

    found = nvtx.Ranges()
    found.says = Program(library)
    found.wait()
    return found


class Program:
    """Calls what the receiver puts behind NVTX's functions."""

    def __init__(self, library):
        size = 16
        functions = (ctypes.c_void_p * size)()
        table = (ctypes.c_void_p * size)(*(ctypes.addressof(functions) + 8 * place for place in range(size)))
        get_table = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

        def fill(module, out_table, out_size):
            ctypes.c_void_p.from_address(out_table).value = ctypes.addressof(table) if module == 1 else None
            ctypes.c_uint.from_address(out_size).value = size
            return int(module == 1)

        self.kept = get_table(fill), functions, table
        callbacks = (ctypes.c_void_p * 2)(16, ctypes.cast(self.kept[0], ctypes.c_void_p).value)
        export = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(lambda number: ctypes.addressof(callbacks))
        assert ctypes.CDLL(str(library)).InitializeInjectionNvtx2(export) == 1
        types = {"push": (ctypes.c_int, ctypes.c_char_p), "pop": (ctypes.c_int,), "mark": (None, ctypes.c_char_p)}
        types |= {"start": (ctypes.c_uint64, ctypes.c_char_p), "end": (None, ctypes.c_uint64)}
        for name, place in {"push": 9, "pop": 11, "mark": 2, "start": 5, "end": 7}.items():
            setattr(self, name, ctypes.CFUNCTYPE(*types[name])(functions[place]))


def lines(path):
    return [(line.split("\t")[0], line.split("\t")[5]) for line in path.read_text().splitlines()[1:] if line]


def test_only_what_begins_in_the_recording_is_in_it(ranges, tmp_path):
    program = ranges.says
    program.push(b"around")
    program.push(b"before")
    program.pop()
    early = program.start(b"early")
    ranges.start()
    program.push(b"inside")
    program.pop()
    program.end(early)
    program.push(b"open at the end")
    late = program.start(b"late")
    ((path, suffix),) = ranges.stop()
    assert suffix == "nvtx.log"
    published = path.rename(tmp_path / "rank-0000.nvtx.log")
    ranges.resume()
    program.push(b"after")
    program.pop()
    program.pop()
    program.pop()
    program.mark(b"after")
    program.end(late)
    program.end(program.start(b"after"))
    assert lines(published) == [("R", "inside"), ("S", "late"), ("R", "open at the end"), ("E", "")]


def test_writing_the_capture_is_not_the_programs_time(ranges):
    ranges.start()
    ranges.says.push(b"x")
    ranges.says.mark(b"y")
    ((path, _),) = ranges.stop()
    subprocess.run(["sleep", "0.3"], check=True)
    ranges.resume()
    ranges.says.pop()
    found = next(line for line in path.read_text().splitlines() if line.startswith("R"))
    assert int(found.split("\t")[2]) < 200_000_000


def test_a_recording_in_which_nothing_was_said_leaves_no_file(ranges):
    ranges.start()
    assert ranges.stop() == []
    ranges.start()
    ranges.says.mark(b"x")
    path = ranges.path
    assert path.exists()
    ranges.drop()
    ranges.says.mark(b"y")
    assert not path.exists() and ranges.path is None


def test_without_the_receiver_nothing_happens(monkeypatch):
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/opt/another/tool.so")
    from traceview_inject import nvtx

    ranges = nvtx.Ranges()
    ranges.start()
    assert (nvtx.is_ours(), ranges.path, ranges.stop()) == (False, None, [])
    ranges.resume()
    ranges.drop()
