"""The receiver of NVTX, really built and really called: by NVIDIA's Python package and by C with NVIDIA's headers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILDER = ROOT / "collectors" / "nvtx_injection.py"
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not any(map(shutil.which, ("cc", "gcc", "clang"))),
    reason="needs Linux and a C compiler",
)


def build(cache: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the builder with a cache folder of its own."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), **variables}
    return subprocess.run([sys.executable, BUILDER], env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    done = build(tmp_path_factory.mktemp("cache"))
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.mark.slow
def test_it_is_built_once_and_where_caches_are(tmp_path: Path) -> None:
    first = build(tmp_path)
    path = Path(first.stdout.strip())
    assert path.parent == tmp_path / "traceview" and path.name.startswith("traceview-nvtx-")
    before = path.stat().st_mtime_ns
    assert build(tmp_path).stdout == first.stdout
    assert path.stat().st_mtime_ns == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.slow
def test_a_library_that_others_can_write_to_is_built_again(tmp_path: Path) -> None:
    path = Path(build(tmp_path).stdout.strip())
    path.write_bytes(b"planted")
    path.chmod(0o666)
    assert build(tmp_path).returncode == 0 and path.read_bytes()[:4] == b"\x7fELF" and not path.stat().st_mode & 0o022
    path.parent.chmod(0o777)
    done = build(tmp_path)
    assert (done.returncode, done.stdout) == (1, "") and "is not a folder that only you can write to" in done.stderr


@pytest.mark.slow
def test_no_library_is_taken_from_the_folder_it_runs_in(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "traceview" / Path(build(tmp_path).stdout.strip()).name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"planted")
    environment = {**os.environ, "XDG_CACHE_HOME": "cache", "HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, BUILDER], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == str(tmp_path / "home" / ".cache" / "traceview" / path.name)
    assert path.read_bytes() == b"planted"


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"PATH": "/nowhere"}, "that needs a C compiler"),
        ({"CC": "false"}, "false could not build their receiver (exit code 1)"),
        ({"CC": "/no/such/cc"}, "their receiver could not be built"),
        ({"CC": "cc -include no_such_header.h"}, "no_such_header.h"),
    ],
)
def test_without_a_compiler_there_is_one_sentence(tmp_path: Path, variables: dict[str, str], reason: str) -> None:
    done = build(tmp_path, **variables)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert done.stderr.startswith("NVTX ranges are not recorded") and reason in done.stderr


def headers() -> Path:
    """NVIDIA's headers, as the package nvidia-nvtx brings them."""
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else [Path(place) for place in spec.submodule_search_locations or ()]
    found = next((path.parents[1] for folder in folders for path in folder.rglob("nvtx3/nvToolsExt.h")), None)
    if found is None:
        pytest.skip("needs NVTX's headers (PyPI nvidia-nvtx)")
    return found


def compiled(folder: Path, body: str, *options: str) -> Path:
    """A C program that includes NVIDIA's headers."""
    source = folder / "program.c"
    source.write_text(body)
    command = [
        "cc",
        "-std=gnu11",
        "-pthread",
        *options,
        f"-I{headers()}",
        str(source),
        "-o",
        str(folder / "program"),
        "-ldl",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "program"


@pytest.mark.slow
def test_our_declarations_are_those_of_nvidias_headers(tmp_path: Path) -> None:
    pairs = [
        ("sizeof(Attributes)", "sizeof(nvtxEventAttributes_t)"),
        ("offsetof(Attributes, message_type)", "offsetof(nvtxEventAttributes_t, messageType)"),
        ("offsetof(Attributes, message)", "offsetof(nvtxEventAttributes_t, message)"),
        ("(int)ASCII", "(int)NVTX_MESSAGE_TYPE_ASCII"),
        ("(int)UNICODE", "(int)NVTX_MESSAGE_TYPE_UNICODE"),
        ("(int)REGISTERED", "(int)NVTX_MESSAGE_TYPE_REGISTERED"),
        ("(int)NO_TRACKING", "NVTX_NO_PUSH_POP_TRACKING"),
        ("(int)TABLE_OF_CALLBACKS", "(int)NVTX_ETID_CALLBACKS"),
        ("(int)MODULE_CORE", "(int)NVTX_CB_MODULE_CORE"),
        ("(int)MODULE_CORE2", "(int)NVTX_CB_MODULE_CORE2"),
        ("sizeof(Callbacks)", "sizeof(NvtxExportTableCallbacks)"),
        ("offsetof(Callbacks, GetModuleFunctionTable)", "offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable)"),
        ("sizeof(uint64_t)", "sizeof(nvtxRangeId_t)"),
        ("(int)(sizeof core / sizeof *core) - 1", "(int)NVTX_CBID_CORE_RangePop"),
        ("(int)(sizeof core2 / sizeof *core2) - 1", "(int)NVTX_CBID_CORE2_DomainCreateW"),
    ]
    places = {
        "core": {"MarkEx": "MarkEx", "RangeEnd": "RangeEnd", "RangePushW": "RangePushW", "RangePop": "RangePop"},
        "core2": {"start": "DomainRangeStartEx", "pop": "DomainRangePop", "RegisterW": "DomainRegisterStringW"},
    }
    asserts = "\n".join(f'_Static_assert({ours} == {theirs}, "{theirs}");' for ours, theirs in pairs)
    checks = "\n".join(
        f"if ({table}[NVTX_CBID_{table.upper()}_{theirs}] != (Function){ours}) return 1;"
        for table, names in places.items()
        for ours, theirs in names.items()
    )
    body = f'#include "calls.c"\n#include <nvtx3/nvToolsExt.h>\n{asserts}\nint main(void) {{\n{checks}\nreturn 0; }}\n'
    source = ROOT / "collectors" / "nvtx"
    others = [str(path) for path in source.glob("*.c") if path.name != "calls.c"]
    program = compiled(tmp_path, body, f"-I{source}", "-Wno-unused-function", *others)
    assert subprocess.run([program]).returncode == 0


class Said:
    """Lines that one process wrote: by kind as (thread, domain, name), in order."""

    def __init__(self, path: Path) -> None:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
        self.header = lines[0]
        self.lines = lines[1:]
        assert all(len(line) == 6 for line in self.lines)

    def of(self, kind: str) -> list[tuple[str, str]]:
        return [(domain, name) for found, _, _, _, domain, name in self.lines if found == kind]


def run(folder: Path, library: Path, *command: object, code: int = 0) -> dict[int, Said]:
    """Run a program with the receiver; what its processes wrote by process id, the program's own first."""
    (folder / "raw").mkdir()
    environment = {**os.environ, "NVTX_INJECTION64_PATH": str(library), "TRACEVIEW_DIR": str(folder)}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    paths = sorted((folder / "raw").glob(".nvtx-*.log"), key=lambda path: path.stat().st_ctime_ns)
    return {int(path.name.split(".")[1].removeprefix("nvtx-")): Said(path) for path in paths}


def python(folder: Path, library: Path, body: str, code: int = 0) -> dict[int, Said]:
    """Run a Python program and return its lines by process."""
    pytest.importorskip("nvtx")
    (folder / "program.py").write_text("import nvtx, os, signal, sys, threading, time\n" + body)
    return run(folder, library, sys.executable, folder / "program.py", code=code)


@pytest.mark.slow
def test_nvidias_python_package(tmp_path: Path, library: Path) -> None:
    body = """
@nvtx.annotate("decorated", color="red", domain="mine", category="x", payload=3)
def f():
    pass

before = time.time_ns()
with nvtx.annotate("outer"):
    f()
    nvtx.mark("a\\tmark\\nof ümläut")
found = nvtx.start_range("across", domain="mine")
thread = threading.Thread(target=nvtx.end_range, args=(found,))
thread.start()
thread.join()
nvtx.push_range("never popped")
"""
    before = time.time_ns()
    said = next(iter(python(tmp_path, library, body).values()))
    assert said.of("R") == [("mine", "decorated"), ("", "outer")]
    assert said.of("M") == [("", "a␉mark␊of ümläut")]
    assert said.of("S") == [("mine", "across")]
    (start,), (end,) = ([line for line in said.lines if line[0] == kind] for kind in "SE")
    assert start[2] == end[2] and start[3] != end[3] and int(start[1]) <= int(end[1])
    inner, outer = [line for line in said.lines if line[0] == "R"]
    assert before < int(outer[1]) <= int(inner[1]) < time.time_ns()
    assert int(inner[1]) + int(inner[2]) <= int(outer[1]) + int(outer[2])


@pytest.mark.slow
def test_a_forked_child_has_its_own_file_and_keeps_it_when_killed(tmp_path: Path, library: Path) -> None:
    body = """
with nvtx.annotate("before"):
    pass
nvtx.push_range("open in both")
if os.fork() == 0:
    nvtx.pop_range()
    with nvtx.annotate("child"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
os.wait()
nvtx.pop_range()
os._exit(3)
"""
    said = python(tmp_path, library, body, code=3)
    # Files come in the order of process numbers as text, in which a child may be the first.
    parent, child = sorted(said.values(), key=lambda told: ("", "child") in told.of("R"))
    assert parent.of("R") == [("", "before"), ("", "open in both")]
    assert child.of("R") == [("", "child")]
    assert child.header[3] == parent.header[2] and int(child.header[2]) in said


@pytest.mark.slow
def test_threads_do_not_disturb_each_other(tmp_path: Path, library: Path) -> None:
    body = """
def work(number):
    for _ in range(5_000):
        with nvtx.annotate(f"thread {number}"):
            pass

threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    said = next(iter(python(tmp_path, library, body).values()))
    by_thread = {(line[3], line[5]) for line in said.lines}
    assert len(said.lines) == 20_000 and len(by_thread) == 4
    assert {name for _, name in by_thread} == {f"thread {number}" for number in range(4)}


C_PROGRAM = r"""
#include <nvtx3/nvToolsExt.h>
int main(void) {
    nvtxRangePushA("plain");
    nvtxRangePushW(L"wide \u00fc\u20ac\U0001f600");
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePop(); /* One too many. */
    nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateW(L"two");
    nvtxEventAttributes_t event = {0};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 1.5;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(one, "registered");
    nvtxDomainRangePushEx(one, &event);
    event.message.registered = nvtxDomainRegisterStringW(two, L"registered wide");
    nvtxDomainRangePushEx(two, &event); /* Domains have stacks of their own. */
    nvtxDomainRangePop(one);
    nvtxDomainRangePop(two);
    event.messageType = NVTX_MESSAGE_UNKNOWN;
    nvtxRangeEnd(nvtxRangeStartEx(&event));
    nvtxNameCategoryA(1, "category");
    nvtxNameOsThreadA(1, "thread");
    char text[1000] = {0};
    for (int place = 0; place + 2 < 999; place += 2) { text[place] = (char)0xc3; text[place + 1] = (char)0xbc; }
    nvtxMarkA(text);
    for (int depth = 0; depth < 70; depth++) nvtxRangePushA("deep");
    for (int depth = 0; depth < 70; depth++) nvtxRangePop();
    nvtxDomainDestroy(one);
    return nvtxRangePushA("last") == NVTX_NO_PUSH_POP_TRACKING ? 0 : 1;
}
"""


def test_every_kind_of_call_in_c(tmp_path: Path, library: Path) -> None:
    said = next(iter(run(tmp_path, library, compiled(tmp_path, C_PROGRAM)).values()))
    assert said.of("R")[:4] == [("", "wide ü€😀"), ("", "plain"), ("one", "registered"), ("two", "registered wide")]
    assert said.of("R")[4:] == [("", "deep")] * 64
    assert int(said.header[4]) == 6  # Deeper than there is room for: counted.
    assert said.of("S") == [("", "")]
    assert said.of("M") == [("", "ü" * 126)]


@pytest.mark.slow
def test_a_full_file_only_ends_the_recording(tmp_path: Path, library: Path) -> None:
    body = (
        '#include <nvtx3/nvToolsExt.h>\nint main(void) { for (int i = 0; i < 400000; i++) { nvtxRangePushA("'
        + "n" * 250
        + '"); nvtxRangePop(); } return 0; }'
    )
    (tmp_path / "raw").mkdir()
    environment = {**os.environ, "NVTX_INJECTION64_PATH": str(library), "TRACEVIEW_DIR": str(tmp_path)}
    assert subprocess.run([compiled(tmp_path, body)], env=environment).returncode == 0
    text = next((tmp_path / "raw").glob(".nvtx-*")).read_bytes()
    assert len(text) == 64 << 20
    assert text.count(b"\nR\t") + int(text.split(b"\t", 5)[4]) == 400_000


@pytest.mark.slow
def test_a_push_and_pop_cost_little(tmp_path: Path, library: Path) -> None:
    body = r"""
#include <nvtx3/nvToolsExt.h>
#include <time.h>
int main(void) {
    clock_t begin = clock();
    for (int i = 0; i < 50000; i++) { nvtxRangePushA("forward of a layer"); nvtxRangePop(); }
    return (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / 50000 > 2000 ? 1 : 0; /* measured: 200 ns */
}
"""
    run(tmp_path, library, compiled(tmp_path, body, "-O2"))


def test_without_a_capture_it_does_nothing(tmp_path: Path, library: Path) -> None:
    program = compiled(tmp_path, '#include <nvtx3/nvToolsExt.h>\nint main(void) { nvtxMarkA("x"); return 0; }')
    environment = {key: value for key, value in os.environ.items() if key != "TRACEVIEW_DIR"}
    environment["NVTX_INJECTION64_PATH"] = str(library)
    assert subprocess.run([program], cwd=tmp_path, env=environment).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program", "program.c"]
    environment["TRACEVIEW_DIR"] = str(tmp_path / "gone")
    assert subprocess.run([program], cwd=tmp_path, env=environment).returncode == 0
