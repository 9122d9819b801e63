"""Cutting a trace at any byte keeps every event that is complete before the cut.

What is complete is told by the standard library alone: `json`'s own scanner, `zlib`, and a walk through a protobuf
message that knows nothing of ours. TRACEVIEW_CUTS=200 cuts each trace at that many places.
"""

from __future__ import annotations

import bisect
import gzip
import json
import os
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import connected
from cuts import json_ends
from mutations import fields_of
from readers.test_nvprof_text import NEW as NVPROF

from traceview import store
from traceview.errors import InputError

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
N_CUTS = int(os.environ.get("TRACEVIEW_CUTS", 5))


def xplane_ends(data: bytes) -> list[int]:
    """Return the offset where each event of each line of each plane ends."""
    planes = _at(data, (0, len(data)), 1)
    lines = [line for plane in planes for line in _at(data, plane, 3)]
    return sorted(end for line in lines for _, end in _at(data, line, 4))


def _at(data: bytes, where: tuple[int, int], number: int) -> list[tuple[int, int]]:
    begin, end = where
    fields = fields_of(data[begin:end])
    return [(begin + a, begin + b) for start, a, b, wire in fields if wire == 2 and data[begin + start] >> 3 == number]


def line_ends(text: bytes, pattern: bytes) -> list[int]:
    return [match.end() for match in re.finditer(pattern, text)]


def minified(text: bytes) -> bytes:
    return json.dumps(json.loads(text), separators=(",", ":")).encode()


def one_event_a_line(text: bytes) -> bytes:
    content = json.loads(text)
    events = content.pop("traceEvents")
    head = json.dumps(content)[:-1].encode() + b', "traceEvents": [\n'
    return head + b",\n".join(json.dumps(event).encode() for event in events) + b"\n]}\n"


def n_stored(data: bytes, folder: Path, name: str) -> int:
    """Events stored of a trace with these bytes; 0 when it is refused."""
    path = folder / name
    path.write_bytes(data)
    try:
        connection = connected(store.convert([path], folder / f"{name}.capture"))
    except InputError:
        return 0
    found = connection.execute("SELECT sum(n_kept), bool_or(problems IS NOT NULL) FROM captures").fetchall()
    assert found[0][1] or len(data) == 0, "a cut file says so"
    return int(found[0][0])


def check(
    data: bytes, ends: list[int], pack: Callable[[bytes], bytes], folder: Path, seed: str, spare: int = 0
) -> None:
    """Cut anywhere behind the first event: what is complete is kept, and nothing else."""
    packed = pack(data)
    dice = random.Random(seed)
    first = 0.3 if packed is not data else ends[0] / len(data)
    for number in range(N_CUTS):
        cut = int(len(packed) * (first + (1 - first) * dice.random()))
        rest = packed[:cut] if packed is data else zlib.decompressobj(31).decompress(packed[:cut])
        complete = bisect.bisect_right(ends, len(rest))
        found = n_stored(packed[:cut], folder, f"cut-{number}")
        assert found == complete, f"{seed}, cut at {cut}: {found} of {complete} events"


def unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


PACKS = {"plain": lambda data: data, "gzip": lambda data: gzip.compress(data, 1)}


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("layout", [bytes, minified, one_event_a_line], ids=lambda layout: layout.__name__)
def test_kineto(layout: Callable[[bytes], bytes], pack: str, tmp_path: Path) -> None:
    data = layout(unpacked(SAMPLES / "kineto" / "torch-2.13.0-lenet-cpu.json.gz"))
    check(data, json_ends(data), PACKS[pack], tmp_path, f"{layout.__name__} {pack}")


@pytest.mark.shared
@pytest.mark.parametrize(
    "name",
    ["kineto/a100-alexnet-forward", "kineto/mi250-minitoy-train", "tf1-timeline/gpu-step", "tf1-timeline/vgg-train"],
)
def test_public_json(name: str, shared: Path, tmp_path: Path) -> None:
    data = unpacked(shared / f"traces/{name}.json.gz")
    check(data, json_ends(data), PACKS["plain"], tmp_path, name)


def test_xplane(tmp_path: Path) -> None:
    data = unpacked(SAMPLES / "xplane" / "tensorflow-2.21.0-lenet-cpu.xplane.pb.gz")
    check(data, xplane_ends(data), PACKS["plain"], tmp_path, "tensorflow")


@pytest.mark.shared
def test_public_xplane(shared: Path, tmp_path: Path) -> None:
    data = unpacked(shared / "traces/xplane/sm61-tf2-train.xplane.pb.gz")
    check(data, xplane_ends(data), PACKS["plain"], tmp_path, "sm61")


def test_nvprof_text(tmp_path: Path) -> None:
    """A log's line is complete with its end; a last line without one may be cut in its last word."""
    data = NVPROF.encode()
    check(data, line_ends(data, rb"(?m)^ *\d\S+s .*\n"), PACKS["plain"], tmp_path, "nvprof")
