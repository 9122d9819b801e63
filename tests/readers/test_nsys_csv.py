"""`nsys stats` CSV: traces by header, units in headers, summaries without a timeline, and damaged files."""

# ruff: noqa: E501 -- lines of reports are as long as the tool prints them

from __future__ import annotations

from pathlib import Path

import pytest
from asked import opened, rows
from given import pick, section

from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, nsys_csv

GPU = """\
NOTICE: Existing SQLite export found: run.sqlite

Processing [run.sqlite] with [/opt/nsight/reports/cuda_gpu_trace.py]...
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
9695093,265888,65,,,,,,,,,,8.389,167.0,Pageable,Device,NVIDIA A100-SXM4-80GB (1),1,,7,[CUDA memcpy Host-to-Device]
9961685,2707098,67,2,1,2304,128,1,4,160,0.001,0.025,,,,,NVIDIA A100-SXM4-80GB (1),1,,13,"void k<(int)3, ""x"">(float *, int)"
9961900,512,68,,,,,,,,,,0.004,,Device,,NVIDIA A100-SXM4-80GB (1),1,,7,[CUDA memset]
9962900,512,69,,,,,,,,,,0.000,,Device,Pinned,NVIDIA A100-SXM4-80GB (1),1,,7,[CUDA memcpy DtoH]
"""
API = """\
Processing [run.sqlite] with [/opt/nsight/reports/cuda_api_trace.py]...
Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name
9690000,2155,cudaMemcpyAsync,0,65,42,43,20,python
9900000,1500,cuLaunchKernel,0,67,42,43,20,python
"""
NVTX = """\
Processing [run.sqlite] with [/opt/nsight/reports/nvtx_pushpop_trace.py]...
Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree
9600000,9999000,399000,0,399000,train:step 1,42,43,0,0,1,,:1,step 1
"""
SUMMARY = """\
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
88.7,10650240,24,443760.0,443520,441120,449280,2048.5,"gemm_fp64_kernel(double *, int)"

 ** CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum):

Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
402.653,48,8.389,8.389,8.389,8.389,0.000,[CUDA memcpy Host-to-Device]
"""
UNTITLED = """\
Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
81.2,131012864,1,131012864.0,131012864.0,131012864,131012864,0.0,cudaMalloc
"""
OLD = """\
Time(%),Total Time (nsec),Instances,Average,Minimum,Maximum,Name
60.0,1200,2,600.4,500,700,void k<int, float>(float*, int)
"""
OLD_TRACE = """\
"Start(nsec)","Duration(nsec)","CorrId","Device","Strm","Name"
"1000","500","7","Tesla V100 (0)","7","k"
"""


def test_rows_of_a_gpu_trace(tmp_path: Path) -> None:
    found = opened(tmp_path, GPU)
    assert rows(
        found,
        """SELECT name, start_ns, dur_ns, device, stream, grid_x, grid_z, block_x, block_z, registers, shared_bytes, correlation
        FROM kernels""",
    ) == [('void k<(int)3, "x">(float *, int)', 266_592, 2_707_098, 1, 13, 2, 2304, 128, 4, 160, 26_000, 67)]
    assert rows(found, "SELECT direction, size_bytes, src_kind, dst_kind FROM memcpys ORDER BY start_ns") == [
        ("HtoD", 8_389_000, "pageable", "device"),
        ("memset", 4000, None, "device"),
        ("DtoH", 0, "device", "pinned"),
    ]
    assert rows(found, "SELECT device, name FROM devices") == [(1, "NVIDIA A100-SXM4-80GB")]
    assert rows(found, "SELECT n_events, n_kept, problems, tool FROM captures") == [(4, 4, None, "Nsight Systems")]


def test_reports_in_one_file_are_one_process(tmp_path: Path) -> None:
    """A kernel finds its launch, and the launch its thread's NVTX range."""
    found = opened(tmp_path, "\ufeff" + (GPU + API + NVTX).replace("\n", "\r\n"))
    query = "SELECT a.name, a.kind, a.pid, a.tid FROM kernels k JOIN api_calls a ON a.id = k.launch_id"
    assert rows(found, query) == [("cuLaunchKernel", "driver", 42, 43)]
    assert rows(found, "SELECT kind, name, domain, dur_ns, tid FROM ranges") == [
        ("step", "step 1", "train", 399_000, 43)
    ]


def test_names_of_ranges_keep_their_colons(tmp_path: Path) -> None:
    """A domain stands before the name, a colon between; older versions write nothing where there is none."""
    written = [":aten::add", "aten::relu", "NCCL:ncclAllReduce", "forward: conv1", "traceview.module: conv1", "step:3"]
    body = "".join(f"{n},{n + 1},1,0,1,{name},42,43,0,0,{n},,,\n" for n, name in enumerate(written))
    found = opened(tmp_path, "".join(NVTX.splitlines(keepends=True)[:2]) + body)
    assert rows(found, "SELECT kind, domain, name FROM ranges ORDER BY id") == [
        ("nvtx", None, "aten::add"),
        ("nvtx", None, "aten::relu"),
        ("nvtx", "NCCL", "ncclAllReduce"),
        ("nvtx", None, "forward: conv1"),
        ("module", None, "conv1"),
        ("step", None, "step:3"),
    ]


def test_a_table_without_a_device_holds_no_kernels(tmp_path: Path) -> None:
    table = "Start (ns),End (ns),Duration (ns),Name,PID,TID\n1000,9000,8000,:epoch,53,54\n"
    found = opened(tmp_path, table)
    assert rows(found, "SELECT name, start_ns, dur_ns, pid, tid FROM ranges") == [("epoch", 0, 8000, 53, 54)]
    assert rows(found, "SELECT count(*) FROM kernels") == [(0,)]


def test_numbers_that_processes_share_join_nothing(tmp_path: Path) -> None:
    """A kernel is listed without its process: 67 may be the call of either."""
    found = opened(tmp_path, GPU + API + "9800000,1500,cuLaunchKernel,0,67,52,53,20,python\n")
    assert rows(found, "SELECT count(*), count(launch_id) FROM kernels") == [(1, 0)]
    assert rows(found, "SELECT pid FROM memcpys JOIN api_calls a ON a.id = launch_id") == [(42,)]
    problems = rows(found, "SELECT problems FROM captures")[0][0]
    assert [(problem["n"], problem["kind"][:44]) for problem in problems] == [
        (2, "calls of several processes with one number: ")
    ]


def test_summaries_have_no_timeline(tmp_path: Path) -> None:
    found = opened(tmp_path, SUMMARY)
    assert rows(found, "SELECT section, name, calls, total_ns, avg_ns, min_ns, max_ns, total_bytes FROM summaries") == [
        ("cuda_gpu_kern_sum", "gemm_fp64_kernel(double *, int)", 24, 10_650_240, 443_760, 441_120, 449_280, None),
        ("cuda_gpu_mem_size_sum", "[CUDA memcpy Host-to-Device]", 48, None, None, None, None, 402_653_000),
    ]
    assert rows(found, "SELECT count(*) FROM kernels") == [(0,)]
    assert rows(found, "SELECT clock FROM captures") == [(nsys_csv.NO_TIMELINE,)]


def test_a_summary_without_its_title(tmp_path: Path) -> None:
    assert rows(opened(tmp_path, UNTITLED), "SELECT section, name, calls FROM summaries") == [
        ("cuda_api_sum", "cudaMalloc", 1)
    ]


def test_old_spellings(tmp_path: Path) -> None:
    """Units as nsec, averages without one, names with commas and without quotes."""
    old = opened(tmp_path, OLD, "old")
    assert rows(old, "SELECT section, name, calls, total_ns, avg_ns, max_ns FROM summaries") == [
        ("cuda_gpu_kern_sum", "void k<int, float>(float*, int)", 2, 1200, 600, 700)
    ]
    trace = opened(tmp_path, OLD_TRACE, "trace")
    assert rows(trace, "SELECT name, dur_ns, device, correlation FROM kernels") == [("k", 500, 0, 7)]


@pytest.mark.long
@pytest.mark.parametrize("end", range(250, len(GPU), 37))
def test_cut_at_any_byte(tmp_path: Path, end: int) -> None:
    text = GPU[:end]
    try:
        found = opened(tmp_path, text)
    except InputError:
        assert text.count("\n") < 5
        return
    n_kept, events, dropped = rows(found, "SELECT n_kept, n_events, coalesce(n_dropped, 0) FROM captures")[0]
    assert n_kept == events - dropped >= text.count("\n") - 4
    assert rows(found, "SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM memcpys)") == [(n_kept,)]
    assert text.endswith("\n") or rows(found, "SELECT count(*) > 0 FROM quality") == [(True,)]


def test_damaged_rows_are_counted(tmp_path: Path) -> None:
    bad = GPU.replace("9961900,512", "9961900,oops").encode() + b"1,2\n1,2,\xff\x00\n"
    found = opened(tmp_path, bad)
    assert rows(found, "SELECT n_events, n_kept, n_dropped FROM captures") == [(6, 3, 3)]
    assert rows(found, "SELECT n FROM quality WHERE kind = 'rows of an nsys report that are cut or damaged'") == [(3,)]


def test_hostile_headers_end_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsys_csv, "MAX_TABLES", 2)
    found = opened(tmp_path, OLD_TRACE * 5)
    assert rows(found, "SELECT kind, n FROM quality WHERE kind LIKE 'more than%'") == [
        ("more than 2 tables: the rest of the file is left out", 1)
    ]


@pytest.mark.parametrize("text", [GPU, API, NVTX, SUMMARY, UNTITLED, OLD, OLD_TRACE])
def test_exactly_one_reader_knows_it(tmp_path: Path, text: str) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(text)
    assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [nsys_csv]


def test_a_printed_summary_answers_by_its_totals(tmp_path: Path) -> None:
    """Times and sizes of copies stand in summaries of their own."""
    found = opened(tmp_path, SUMMARY)
    assert pick(section(found, "kernels/names"), "name", "category", "calls", "total_ns") == [
        ("gemm_fp64_kernel(double *, int)", "gemm", 24, 10_650_240)
    ]
    assert pick(section(found, "overview/copies"), "direction", "calls", "size_bytes", "total_ns") == [
        ("HtoD", 48, 402_653_000, None)
    ]


def test_what_two_summaries_tell_counts_once(tmp_path: Path) -> None:
    again = SUMMARY[: SUMMARY.index(" ** CUDA GPU MemOps")].replace("cuda_gpu_kern_sum", "cuda_gpu_sum")
    found = opened(tmp_path, SUMMARY + again.replace(",Name", ",Operation"))
    assert pick(section(found, "kernels/names"), "calls", "total_ns", "mean_ns") == [(24, 10_650_240, 443_760)]
