"""Perfetto: its own classes read every packet, and slices, texts, arrows and labels are those of the capture."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
from timelines import HOSTILE, event, opened, written

from traceview import cli
from traceview.exports.perfetto import _samples, fixed, joined, message, number, one
from traceview.render.page.varints import varints


class File:
    """Trace packets as a viewer reads them."""

    def __init__(self, data: bytes) -> None:
        trace = perfetto.Trace()
        trace.ParseFromString(data)
        self.tracks: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.slices: list[tuple[str, str, int, int, dict[str, object], list[int]]] = []
        self.samples: list[tuple[str, str, int, float]] = []
        names, values, keys, categories = {}, {}, {}, {}
        stacks = defaultdict(list)
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
            self.parents[packet.track_descriptor.uuid] = packet.track_descriptor.parent_uuid
            names |= {entry.iid: entry.name for entry in packet.interned_data.event_names}
            categories |= {entry.iid: entry.name for entry in packet.interned_data.event_categories}
            keys |= {entry.iid: entry.name for entry in packet.interned_data.debug_annotation_names}
            values |= {entry.iid: entry.str.decode() for entry in packet.interned_data.debug_annotation_string_values}
            if not packet.HasField("track_event"):
                continue
            told = packet.track_event
            if told.type == told.TYPE_COUNTER:
                above = self.tracks[self.parents[told.track_uuid]]
                self.samples.append((above, self.tracks[told.track_uuid], packet.timestamp, told.double_counter_value))
                continue
            if told.type == told.TYPE_SLICE_BEGIN:
                stacks[told.track_uuid].append((packet.timestamp, told))
                continue
            start, begun = stacks[told.track_uuid].pop()
            facts = {
                keys[each.name_iid]: values[each.string_value_iid] if each.string_value_iid else each.int_value
                for each in begun.debug_annotations
            } | {"cat": categories[begun.category_iids[0]]}
            track = self.tracks[told.track_uuid]
            self.slices.append(
                (names[begun.name_iid], track, start, packet.timestamp - start, facts, list(begun.flow_ids))
            )
        assert not any(stacks.values())


def test_slices_carry_names_times_and_what_is_derived(file: Any) -> None:
    viewed = File(file("perfetto"))
    found = {name: (track, start, duration, facts) for name, track, start, duration, facts, _ in viewed.slices}
    track, start, duration, facts = found["implicit_convolve_sgemm"]
    assert (track, start, duration) == ("stream 1", 150_000, 40_000)
    assert facts == {
        "cat": "kernel", "category": "conv", "algorithm": "implicit_gemm", "direction": "fprop", "role": "main",
        "op": "aten::cudnn_convolution", "step": 3,
    }  # fmt: skip
    assert found[HOSTILE][0] == "stream 1 (overlapping 1)"
    assert found["step 3"][:3] == ("steps", 0, 400_000)


def test_memory_is_a_counter_in_bytes(file: Any) -> None:
    viewed = File(file("perfetto"))
    assert sorted(viewed.samples) == [
        ("rank 0 traceview", "allocated_bytes gpu 0", 160_000, 1024.0),
        ("rank 0 traceview", "reserved_bytes gpu 0", 160_000, 2048.0),
    ]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("trace", "n_samples"),
    [("mi300-resnet18-train", 210), ("v100-dlrm-train-nccl", 28_010)],
)
@pytest.mark.long
def test_every_sample_of_memory_of_a_real_trace_is_there(
    trace: str, n_samples: int, shared: Path, tmp_path: Path
) -> None:
    """Both totals of each `[memory]` event at its time, in the order of the file."""
    path = shared / f"traces/kineto/{trace}.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as text:
        events = json.load(text, parse_float=Decimal)["traceEvents"]
    expected = defaultdict(list)
    for told in events:
        if told["name"] == "[memory]":
            device = told["args"]["Device Id"] if told["args"]["Device Type"] else None
            for name in ("allocated", "reserved"):
                value = float(told["args"][f"Total {name.capitalize()}"])
                expected[name, device].append((int(told["ts"] * 1000), value))
    assert sum(map(len, expected.values())) == 2 * n_samples
    found = defaultdict(list)
    file = tmp_path / "trace.perfetto"
    assert cli.main(["export", str(path), "--to", "perfetto", "-o", str(file)]) == 0
    for _, label, at, value in File(file.read_bytes()).samples:
        if match := re.fullmatch(r"(allocated|reserved)_bytes(?: (?:gpu (\d+)|cpu|host))?", label):
            found[match.group(1), int(match.group(2)) if match.group(2) else None].append((at, value))
    assert {key: len(samples) for key, samples in found.items()} == {key: len(some) for key, some in expected.items()}
    first = min(at for samples in expected.values() for at, _ in samples)
    shift = min(at for samples in found.values() for at, _ in samples) - first
    for key, samples in expected.items():
        samples.sort(key=lambda one: one[0])
        assert found[key] == [(at + shift, value) for at, value in samples], key


def test_values_of_counters_may_be_negative_or_broken() -> None:
    trace = perfetto.Trace()
    trace.ParseFromString(_samples(np.array([7, 7]), np.array([1, 2]), np.array([-1.5, 2.0**60])))
    found = [(packet.timestamp, packet.track_event.double_counter_value) for packet in trace.packet]
    assert found == [(1, -1.5), (2, 2.0**60)]


def test_operators_have_their_shapes_and_copies_their_bytes(file: Any) -> None:
    facts = {name: told for name, _, _, _, told, _ in File(file("perfetto")).slices}
    assert facts["aten::conv2d"]["shapes"] == "[[2,3,8,8],[4,3,3,3]]" and "shapes" not in facts["aten::empty"]
    assert facts["Memcpy HtoD (Pageable -> Device)"]["size_bytes"] == 4096


@pytest.mark.slow
def test_an_operator_and_its_gradient_share_a_flow(tmp_path: Path) -> None:
    """By sequence number: the gradient runs on a thread of its own."""
    ops = [
        event("cpu_op", "aten::relu", 0, 10, **{"External id": 1, "Sequence number": 5, "Fwd thread id": 0}),
        event("cpu_op", "ReluBackward0", 50, 10, 8, **{"External id": 2, "Sequence number": 5, "Fwd thread id": 1}),
    ]
    flows = {name: numbers for name, *_, numbers in File(written(opened(tmp_path, ops), "perfetto")).slices}
    assert flows["aten::relu"] == flows["ReluBackward0"] != []


def test_tracks_stand_below_their_process(file: Any) -> None:
    viewed = File(file("perfetto"))
    below = {name: viewed.tracks.get(viewed.parents[uuid]) for uuid, name in viewed.tracks.items()}
    assert below["stream 2"] == "rank 0 GPU 0" and below["thread 7"] == "rank 0 process 70"


def test_a_call_and_its_kernel_share_a_flow(file: Any) -> None:
    viewed = File(file("perfetto"))
    flows = defaultdict(set)
    for name, _, _, _, _, numbers in viewed.slices:
        for flow in numbers:
            flows[flow].add(name)
    assert sorted(map(sorted, flows.values())) == sorted(
        [["cudaLaunchKernel", "implicit_convolve_sgemm"], sorted(["cudaLaunchKernel", HOSTILE])]
    )


@pytest.mark.long
def test_many_slices_of_large_times(tmp_path: Path) -> None:
    far = 4_000_000_000
    ops = [event("cpu_op", f"o{n % 300}", n * far / 5000, 10 + n % 3) for n in range(5000)]
    file = File(written(opened(tmp_path, ops), "perfetto"))
    ours = [(name, start, duration) for name, track, start, duration, _, _ in file.slices if track.startswith("thread")]
    assert sorted(ours) == sorted((f"o{n % 300}", n * far // 5, (10 + n % 3) * 1000) for n in range(5000))


VALUES = [0, 1, 127, 128, 150, 16383, 16384, 2**32, 2**62 - 1]


def _varint(value: int) -> bytes:
    groups = [value >> at & 127 for at in range(0, max(1, value.bit_length()), 7)]
    return bytes([group | 128 for group in groups[:-1]] + groups[-1:])


def test_varints_are_groups_of_seven_bits() -> None:
    assert varints(np.array(VALUES)).text() == b"".join(map(_varint, VALUES))
    assert varints(np.array([150])).text() == b"\x96\x01"
    assert varints(np.array([], np.int64)).text() == b""


@pytest.mark.parametrize("value", VALUES)
def test_one_field_is_as_many_fields(value: int) -> None:
    assert one(17, value) == number(17, np.array([value])).text()


def test_messages_lack_what_is_negative() -> None:
    inner = joined([number(1, np.array([5, -1, 300])), fixed(2, np.array([-1, 7, 9]))])
    assert message(3, inner, np.array([True, True, False])).text() == (
        b"\x1a\x02\x08\x05" + b"\x1a\x09\x11" + (7).to_bytes(8, "little")
    )


def test_text_is_a_field_with_its_length() -> None:
    assert one(2, b"testing") == bytes.fromhex("120774657374696e67")
