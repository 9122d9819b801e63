"""oneDNN's verbose lines of every version, alone and beside a trace, and lines that are no such thing."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import connected, opened, rows
from cases import first
from given import pick, section

from traceview import store
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, onednn

V0 = """\
mkldnn_verbose,info,Intel MKL-DNN v0.20.0 (Git Hash 2d57),Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2)
mkldnn_verbose,create,convolution,jit:avx2,forward_training,fsrc:nchw fwei:Ohwi8o fbia:x fdst:nChw8c,alg:convolution_direct,mb64_ic3oc64_ih224oh55kh11sh4dh0ph2_iw224ow55kw11sw4dw0pw2,0.24707
mkldnn_verbose,exec,reorder,jit:uni,undef,in:f32_oihw out:f32_Ohwi8o,num:1,64x3x11x11,0.432129
mkldnn_verbose,exec,convolution,jit:avx2,forward_training,fsrc:nchw fwei:Ohwi8o fbia:x fdst:nChw8c,alg:convolution_direct,mb64_ic3oc64_ih224oh55kh11sh4dh0ph2_iw224ow55kw11sw4dw0pw2,15.6321
"""
FIRST = """\
mkldnn_verbose,exec,reorder,undef,in:f32_nchw out:f32_nChw8c,num:1,2x16x7x7,0.478027
mkldnn_verbose,exec,convolution,forward_inference,fsrc:nChw8c fwei:gOIhw8i8o fbia:x fdst:nChw8c,alg:convolution_direct,mb2_g1ic16oc16_ih7oh7kh5sh1dh0ph2_iw7ow7kw5sw1dw0pw2,0.0170898
"""
DNNL = """\
dnnl_verbose,info,DNNL v1.1.2 (commit cb2cc7ac17ff4e2ef50805c7048d33256d82be4d)
dnnl_verbose,info,Detected ISA is Intel AVX-512 with Intel DL Boost
dnnl_verbose,create:cache_miss,cpu,convolution,jit:avx512_common,forward_training,src_f32::blocked:abcd:f0,scratchpad_mode:user;,alg:convolution_direct,mb32_ic3oc64_ih224oh112kh7sh2dh0ph3_iw224ow112kw7sw2dw0pw3,0.25
dnnl_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32::blocked:aBcd8b:f0,num:1,2x16x7x7,0.453857
dnnl_verbose,exec,cpu,convolution,gemm:jit,backward_weights,src_bf16::blocked:abcd:f0 wei_f32::blocked:abcde:f0 bia_undef::undef::f0 dst_bf16::blocked:abcd:f0,scratchpad_mode:user;,alg:convolution_direct,mb128_g32ic256oc256_ih28oh28kh3sh1dh0ph1_iw28ow28kw3sw1dw0pw1,42.1951
"""
V2 = """\
onednn_verbose,info,oneDNN v2.7.0 (commit 650085b2f3643aad05c629425983491d63b5c289)
onednn_verbose,info,cpu,isa:Intel AVX2
onednn_verbose,1656340124961.12,exec,cpu,eltwise,jit:avx2,forward_training,data_f32::blocked:abcd:f0 diff_undef::undef::f0,,alg:eltwise_relu alpha:0 beta:0,16x64x55x55,0.501953
"""
V1 = """\
onednn_verbose,v1,info,oneDNN v3.4.1 (commit f5ff0a6de16c130053bec1a1aec3a9b826c66f78)
onednn_verbose,v1,info,cpu,runtime:OpenMP,nthr:2
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,v1,graph,exec,cpu,100002,matmul_post_ops,fc,,in0_f32:0:strided:constant,fpm:strict,larger_partition_kernel_t,dnnl_backend,9.9
onednn_verbose,v1,primitive,create:cache_hit,cpu,reorder,jit:uni,undef,src:f32::blocked:abcd::f0 dst:f32::blocked:aBcd8b::f0,,,2x16x7x7,0.001
onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_training,src:f32::blocked:acdb::f0 wei:f32::blocked:Acdb16a::f0 bia:f32::blocked:a::f0 dst:f32::blocked:acdb::f0,attr-scratchpad:user attr-post-ops:eltwise_relu,alg:convolution_direct,mb16_ic3oc64_ih224oh55kh11sh4dh0ph2_iw224ow55kw11sw4dw0pw2,3.18701
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:a::f0 dst:f32::blocked:a::f0,,,16,0.101074
"""
V1_STAMPED = """\
onednn_verbose,v1,info,oneDNN v3.12.0 (commit 0)
onednn_verbose,v1,1693533460193.346924,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,src:f32::blocked:ab::f0 wei:f32::blocked:ba::f0 dst:f32::blocked:ab::f0,attr-scratchpad:user,,16x9216:9216x4096,1.5
onednn_verbose,v1,1693533460195.25,primitive,exec,gpu:0,matmul,jit:gemm:any,undef,src:f16::blocked:ab::f0 wei:s8::blocked:ba::f0 dst:f16::blocked:ab::f0,attr-fpmath:f16:true,,4160x3420:3420x1280,0.732178
"""
VERSIONS = [V0, FIRST, DNNL, V2, V1, V1_STAMPED]


COLUMNS = "SELECT kind, impl, prop_kind, algorithm_recorded, attributes, shape[:12], start_ns, dur_ns FROM primitives ORDER BY id"
EXPECTED = {
    V0: (
        "Intel MKL-DNN 0.20.0",
        [
            ("reorder", "jit:uni", "undef", None, None, "64x3x11x11", 0, 432_129),
            ("convolution", "jit:avx2", "forward_training", "convolution_direct", None, "mb64_ic3oc64", 432_129, 15_632_100),
        ],
    ),
    FIRST: (
        "oneDNN",
        [
            ("reorder", None, "undef", None, None, "2x16x7x7", 0, 478_027),
            ("convolution", None, "forward_inference", "convolution_direct", None, "mb2_g1ic16oc", 478_027, 17_090),
        ],
    ),
    DNNL: (
        "DNNL 1.1.2",
        [
            ("reorder", "jit:uni", "undef", None, None, "2x16x7x7", 0, 453_857),
            ("convolution", "gemm:jit", "backward_weights", "convolution_direct", "scratchpad_mode:user;", "mb128_g32ic2", 453_857, 42_195_100),
        ],
    ),
    V2: (
        "oneDNN 2.7.0",
        [("eltwise", "jit:avx2", "forward_training", "eltwise_relu alpha:0 beta:0", None, "16x64x55x55", 0, 501_953)],
    ),
    V1: (
        "oneDNN 3.4.1",
        [
            ("convolution", "brg_conv_fwd:avx512_core", "forward_training", "convolution_direct", "attr-scratchpad:user attr-post-ops:eltwise_relu", "mb16_ic3oc64", 0, 3_187_010),
            ("reorder", "jit:uni", "undef", None, None, "16", 3_187_010, 101_074),
        ],
    ),
    V1_STAMPED: (
        "oneDNN 3.12.0",
        [
            ("matmul", "brg_matmul:avx512_core", "undef", None, "attr-scratchpad:user", "16x9216:9216", 0, 1_500_000),
            ("matmul", "jit:gemm:any", "undef", None, "attr-fpmath:f16:true", "4160x3420:34", 1_903_076, 732_178),
        ],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", first(3, VERSIONS), ids=["0.x", "first", "dnnl", "2.x", "v1", "v1 stamped"])
def test_every_version_of_the_line(tmp_path: Path, text: str) -> None:
    library, expected = EXPECTED[text]
    found = opened(tmp_path, text)
    assert rows(found, COLUMNS) == expected
    assert rows(found, "SELECT DISTINCT library FROM primitives") == [(library,)]
    assert rows(found, "SELECT n_events, n_kept, n_dropped, problems FROM captures") == [
        (len(expected), len(expected), 0, None)
    ]


def test_stamps_give_the_wall_clock(tmp_path: Path) -> None:
    stamped = opened(tmp_path, V1_STAMPED, "stamped")
    assert rows(stamped, "SELECT origin_unix_ns, clock FROM captures") == [
        (1_693_533_460_193_346_924, "wall-clock stamps in the log")
    ]
    alone = opened(tmp_path, V1, "alone")
    assert rows(alone, "SELECT origin_unix_ns, clock FROM captures") == [(None, onednn._ALONE)]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "idle_pct"), [(V1_STAMPED, pytest.approx(15.3, abs=0.05)), (V1, None)])
def test_without_stamps_idle_time_is_not_known(tmp_path: Path, text: str, idle_pct: Any) -> None:
    """Laid end to end primitives leave no gap, which is no statement about the program."""
    found = opened(tmp_path, text)
    (headline,) = section(found, "overview/headline")
    assert (headline["idle_pct"], headline["active_pct"] is None) == (idle_pct, idle_pct is None)
    assert pick(section(found, "idle/devices"), "idle_pct") == [(idle_pct,)]
    doubts = [text for (text,) in pick(section(found, "overview/doubts"), "text")]
    assert any("no wall time, shares are of it, and idle time is not known" in doubt for doubt in doubts) == (
        idle_pct is None
    )


@pytest.mark.long
def test_a_stamp_since_boot_is_no_wall_clock(tmp_path: Path) -> None:
    found = opened(tmp_path, V2.replace("1656340124961.12", "961234.12"))
    assert rows(found, "SELECT start_ns FROM primitives") == [(0,)]
    assert rows(found, "SELECT clock FROM captures") == [(onednn._ALONE,)]


@pytest.mark.long
def test_what_others_wrote_into_the_log(tmp_path: Path) -> None:
    """A logger's prefix is cut off; where two threads share a line the whole one counts."""
    conv, reorder = V1.splitlines()[-2:]
    text = "\n".join(
        [
            "Epoch 1/5:  10%|#         | 1/10",
            f"2024-05-01T12:00:00Z worker-1 | {conv}",
            f"{conv[:70]}{reorder}",
            f"{reorder} Epoch 1 loss 2.3",
            f"  {reorder}  ",
            "a sentence about onednn_verbose,v1 and exec,cpu",
        ]
    )
    found = opened(tmp_path, text + "\n")
    assert rows(found, "SELECT kind, count(*) FROM primitives GROUP BY kind ORDER BY kind") == [
        ("convolution", 1),
        ("reorder", 3),
    ]
    assert rows(found, "SELECT kind, n FROM quality WHERE kind LIKE '%cut or damaged'") == [
        ("lines of oneDNN that are cut or damaged", 1)
    ]


@pytest.mark.long
def test_lines_that_are_cut_are_never_misread(tmp_path: Path) -> None:
    """Cut inside of any field the last line is counted as damaged."""
    conv = DNNL.splitlines()[-1]
    for end in range(len("dnnl_verbose,exec,"), len(conv) - 7, 11):
        found = opened(tmp_path, f"{DNNL}{conv[:end]}", f"cut{end}")
        assert rows(found, "SELECT count(*), max(dur_ns) FROM primitives") == [(2, 42_195_100)]
        assert rows(found, "SELECT n_events, n_kept, n_dropped FROM captures") == [(3, 2, 1)]
        assert "the last line does not end" in str(rows(found, "SELECT kind FROM quality"))


def test_noise_and_negative_times(tmp_path: Path) -> None:
    bad = V1.replace("3.18701", "-1").encode() + b"\xff\xfeonednn_verbose,v1,primitive,exec,\x00,,,,,,,nan\n"
    found = opened(tmp_path, bad)
    assert rows(found, "SELECT n_events, n_kept, n_dropped FROM captures") == [(3, 1, 2)]


@pytest.mark.slow
def test_times_with_a_decimal_comma(tmp_path: Path) -> None:
    """So writes a program that set a locale which has one; a problem of one dimension alone is no such time."""
    line = "onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:a::f0 dst_f32::blocked:a::f0"
    times = ["0,125", "0,0251", "1,5e-05", "3", "0.5"]
    found = opened(tmp_path, "".join(f"{line},attr-scratchpad:user ,,64,{time}\n" for time in times))
    assert rows(found, "SELECT shape, dur_ns FROM primitives ORDER BY id") == [
        ("64", dur_ns) for dur_ns in (125_000, 25_100, 15, 3_000_000, 500_000)
    ]


@pytest.mark.slow
def test_stamps_with_a_decimal_comma(tmp_path: Path) -> None:
    """Lines with points among them, of a library that also wrote the stamp by the locale, and of one without stamps."""
    numbers = re.compile(r"(?<=\d)\.(?=\d{2,}(?:,prim|,exec|\n))")
    comma = numbers.sub(",", V1_STAMPED)
    assert ",1693533460193,346924,primitive" in comma and comma.endswith("3420x1280,0,732178\n")
    found = opened(tmp_path, comma + V1_STAMPED.splitlines()[-1].replace("195.25", "197.25") + "\n", "v1")
    assert rows(found, "SELECT start_ns, dur_ns FROM primitives ORDER BY id") == [
        (0, 1_500_000),
        (1_903_076, 732_178),
        (3_903_076, 732_178),
    ]
    assert rows(found, "SELECT n_events, n_dropped, clock FROM captures") == [(3, 0, "wall-clock stamps in the log")]
    older = opened(tmp_path, numbers.sub(",", V0) + numbers.sub(",", V2.splitlines()[-1] + "\n"), "older")
    assert rows(older, "SELECT dur_ns FROM primitives ORDER BY id") == [(432_129,), (15_632_100,), (501_953,)]


@pytest.mark.parametrize(("text", "is_said"), [(V1, False), (V1_STAMPED, True)])
def test_primitives_of_a_gpu_are_said(tmp_path: Path, text: str, is_said: bool) -> None:
    said = rows(opened(tmp_path, text), "SELECT warnings FROM captures")[0][0] or []
    assert any("ran on a GPU" in warning for warning in said) == is_said


@pytest.mark.slow
def test_two_runs_in_one_log_are_a_doubt(tmp_path: Path) -> None:
    """As where a second run was appended: nothing ran in the hour between, of which only stamps tell."""
    twice = V1_STAMPED + V1_STAMPED.replace("16935334", "16935370")
    for text, idle in ((twice, ", and any time between runs as idle"), (V1 * 2, "")):
        found = opened(tmp_path, text, f"{len(idle)}")
        assert rows(found, "SELECT n FROM quality WHERE kind LIKE 'further headers%'") == [(1,)]
        assert pick(section(found, "overview/doubts"), "text")[-1:] == [
            (
                "Doubt: The log has 2 headers of oneDNN, as where several runs or processes wrote into it: its primitives "
                f"count as those of one{idle}.",
            )
        ]


@pytest.mark.slow
def test_damaged_compression_keeps_what_came_before(tmp_path: Path) -> None:
    found = opened(tmp_path, gzip.compress((V1 * 2000).encode())[:-20])
    assert rows(found, "SELECT count(*) > 1000 FROM primitives") == [(True,)]
    assert rows(found, "SELECT n FROM quality WHERE kind = 'gzip data is cut off'") == [(1,)]


def test_a_log_without_primitives_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it holds no events"):
        opened(tmp_path, V1.splitlines()[0] + "\n")


def beside(tmp_path: Path, log: str) -> duckdb.DuckDBPyConnection:
    """The log together with a trace: one operator of 10 ms that begins at 1693533460193 ms."""
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1693533460193000, "dur": 10000}
    events = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": [op | {"args": {"External id": 1}}]}
    (tmp_path / "run.json").write_text(json.dumps(events))
    (tmp_path / "run.log").write_text(log)
    paths = [tmp_path / "run.json", tmp_path / "run.log"]
    return connected(store.convert(paths, tmp_path / "capture"))


def test_beside_a_trace_stamps_put_primitives_into_operators(tmp_path: Path) -> None:
    found = beside(tmp_path, V1_STAMPED)
    assert rows(found, "SELECT start_ns, op_name, op_link FROM primitives ORDER BY id") == [
        (346_924, "aten::mm", "time"),
        (2_250_000, "aten::mm", "time"),
    ]


def test_beside_a_trace_no_stamps_mean_no_operators(tmp_path: Path) -> None:
    """Laid end to end from the trace's start they would fall into operators that never called them."""
    found = beside(tmp_path, V1)
    assert rows(found, "SELECT start_ns, op_name FROM primitives ORDER BY id") == [
        (10_000_000, None),
        (13_187_010, None),
    ]
    assert rows(found, "SELECT n FROM quality WHERE kind LIKE '%without time stamps%'") == [(1,)]
    assert rows(found, "SELECT clock FROM captures WHERE format = 'onednn'") == [(onednn._BESIDE,)]


@pytest.mark.parametrize("text", VERSIONS)
def test_exactly_one_reader_knows_it(tmp_path: Path, text: str) -> None:
    unknown = tmp_path / "unknown"
    for prefix in ("", "worker-0 | "):
        unknown.write_text("".join(f"{prefix}{line}\n" for line in text.splitlines()))
        assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [onednn]


@pytest.mark.parametrize("name", first(1, ["lenet", "alexnet"]))
def test_own_samples_are_read_to_the_last_line(root: Path, captures: Any, name: str) -> None:
    sample = root / f"samples/onednn/onednn-3.12.0-{name}-cpu.log.gz"
    with gzip.open(sample, "rt") as log:
        n_exec = sum(",exec," in line for line in log)
    found = captures.open(sample)
    assert rows(found, "SELECT n_events, n_kept, problems FROM captures") == [(n_exec, n_exec, None)]
    assert rows(found, "SELECT count(DISTINCT kind) > 1 FROM primitives") == [(True,)]
