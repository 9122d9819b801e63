"""nvprof's text and CSV: columns by header, binary units, summaries without a timeline, and damaged logs."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pytest
from asked import opened, rows
from cases import first
from given import pick, section

from traceview import sql
from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.paths import content
from traceview.readers import READERS, nvprof_text

NEW = """\
output of the program itself 12.5ms
==7522== NVPROF is profiling process 7522, command: ./vectorAdd -n 5
==7522== Warning: 3 records have invalid timestamps
==7522== Profiling application: ./vectorAdd -n 5
==7522== Profiling result:
   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name
330.01ms  16.992us                    -               -         -         -         -  195.31KB  10.962GB/s    Pageable      Device  GeForce GTX 980         1         7  [CUDA memcpy HtoD]
330.08ms  2.7520us            (196 2 1)       (256 4 1)         8      512B  1.0000KB         -           -           -           -  GeForce GTX 980         1        13  void add<int=3>(float const *, int) [111]
330.09ms     704ns                    -               -         -         -         -  9.1875MB           -      Device           -  GeForce GTX 980         1         7  [CUDA memset]
100.4567s   1.500s           (100000 1 1)        (32 1 1)         -         -         -         -           -           -           -  Tesla K80 (1)         2         7  _Z3fooPfi [112]

Regs: Number of registers used per CUDA thread. This number includes registers used internally by the driver.
SSMem: Static shared memory allocated per CUDA block.
"""
UNIFIED = """\
==9== Profiling result:
   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*           Device   Context    Stream        Unified Memory  Virtual Address  Name
520.20ms         -                    -               -         -         -         -                -         -         -         PC 0x58344172   0x7b552e040000  [Unified Memory CPU page faults]
520.22ms  519.71us             (64 1 1)      (1024 1 1)        16        0B        0B     Tesla T4 (0)         1         7                     -                -  vectorAdd(int const *, int) [128]
520.58ms  10.048us                    -               -         -         -         -     Tesla T4 (0)         -         -           64.000000KB   0x7b552e000000  [Unified Memory Memcpy HtoD]
"""
CSV = """\
======== Profiling result:
"Start","Duration","Name","Correlation_ID"
us,us,,
0.000000,2.866000,"cuDeviceGetPCIBusId",1
35863.518000,0.952000,"cudaLaunchKernel (void k<int=3>(float, int) [2])",
35864.5,0,"[Range start] step 1 (Domain: ""x"")",
======== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","SrcMemType","DstMemType","Device","Context","Stream","Src Dev","Src Ctx","Dst Dev","Dst Ctx","Name","Correlation_ID"
ms,us,,,,,,,,KB,B,KB,GB/s,,,,,,,,,,,
35.8650,1.5,4,2,1,32,8,1,16,2.0,512,,,,,"GeForce RTX 2080 Ti (0)","1","7",,,,,"void k<int=3>(float, int)",2
46.433460,1.536000,,,,,,,,,,0.125000,0.077610,"Pinned","Device","GeForce RTX 2080 Ti (0)","1","22",,,,,"[CUDA memcpy HtoD]",316
47.433460,1.536000,,,,,,,,,,0.125000,0.077610,"Device","Device","GeForce RTX 2080 Ti (0)","1","22","GeForce RTX 2080 Ti (0)","1","GeForce RTX 2080 Ti (1)","2","[CUDA memcpy PtoP]",317
"""
SUMMARY = """\
==10== NVPROF is profiling process 10, command: python train.py
==10== Profiling result:
            Type  Time(%)      Time     Calls       Avg       Min       Max  Name
 GPU activities:   99.96%  2.04319s       301  6.7880ms  3.6928ms  37.174ms  void mm<int=32>(float*, float*)
                    0.04%  406.30us         2  203.15us  136.13us  270.18us  [CUDA memcpy HtoD]
      API calls:   54.22%  1.11524s         3  371.75ms     494ns  1.1152s  cudaMalloc
 OpenACC (excl):   69.60%  15.782ms         1  15.782ms  15.782ms  15.782ms  acc_wait@main.c:22

==10== NVTX result:
==10==   Thread "<unnamed>" (id = 256)
==10==     Domain "<unnamed>"
==10==       Range "step"
            Type  Time(%)      Time     Calls       Avg       Min       Max  Name
          Range:  100.00%  1.22693s         1  1.22693s  1.22693s  1.22693s  step
 GPU activities:  100.00%  34.910ms         1  34.910ms  34.910ms  34.910ms  void mm<int=32>(float*, float*)

==10== Unified Memory profiling result:
Device "Tesla P100-SXM2-16GB (0)"
   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name
     141  116.20KB  4.0000KB  0.9922MB  16.00000MB  1.635900ms  Host To Device
Total CPU Page faults: 72
"""
OLD_SUMMARY = """\
==11== Profiling result:
Time(%)      Time     Calls       Avg       Min       Max  Name
 99.94%  1.11524s       301  3.7051ms  3.6928ms  3.7174ms  void matrixMulCUDA<int=32>(float*, float*, float*, int, int)

==11== API calls:
Time(%)      Time     Calls       Avg       Min       Max  Name
 50.00%      10us         1      10us      10us      10us  cudaFree
"""
CSV_SUMMARY = """\
==12== Profiling result:
"Type","Time(%)","Time","Calls","Avg","Min","Max","Name"
,%,ms,,us,us,us,
"GPU activities",99.5,2.5,5,500.5,400,600,"void k(int, int)"
"API calls",60,1,1,1000,1000,1000,"cudaMalloc"
"""
CHILDREN = (
    NEW
    + NEW.replace("7522", "8000").replace("330.08", "340.08")
    + "==8000== API calls:\nNo API activities were profiled.\n"
)


def problems(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    return dict(rows(connection, "SELECT p.kind, p.n FROM captures, unnest(problems) AS t(p)"))


@pytest.mark.slow
def test_columns_units_and_names_of_a_gpu_trace(tmp_path: Path) -> None:
    found = opened(tmp_path, NEW)
    assert rows(
        found,
        """SELECT name, start_ns, dur_ns, device, stream, grid_x, grid_y, block_x, block_y, registers, shared_bytes,
            correlation FROM kernels ORDER BY start_ns""",
    ) == [
        ("void add<int=3>(float const *, int)", 70_000, 2752, 0, 13, 196, 2, 256, 4, 8, 1536, 111),
        ("_Z3fooPfi", 100_126_690_000, 1_500_000_000, 1, 7, 100_000, 1, 32, 1, None, None, 112),
    ]
    assert rows(found, "SELECT direction, src_kind, dst_kind, size_bytes, dur_ns FROM memcpys ORDER BY start_ns") == [
        ("HtoD", "pageable", "device", 199_997, 16_992),
        ("memset", None, "device", 9_633_792, 704),
    ]
    assert rows(found, "SELECT device, name FROM devices") == [(0, "GeForce GTX 980"), (1, "Tesla K80")]
    assert rows(found, "SELECT command, tool, n_events, n_kept, warnings, origin_unix_ns FROM captures") == [
        ("./vectorAdd -n 5", "nvprof", 4, 4, ["Warning: 3 records have invalid timestamps"], None)
    ]
    assert rows(found, "SELECT pid FROM ranks") == [(7522,)]
    assert problems(found) == {}


@pytest.mark.long
def test_a_trace_pasted_with_indentation_and_windows_line_ends(tmp_path: Path) -> None:
    pasted = "".join(f"    {line.strip()}\r\n" for line in NEW.splitlines())
    assert rows(opened(tmp_path, pasted), "SELECT count(*), sum(dur_ns) FROM kernels") == [(2, 1_500_002_752)]


@pytest.mark.slow
def test_unified_memory(tmp_path: Path) -> None:
    found = opened(tmp_path, UNIFIED)
    assert rows(found, "SELECT dur_ns, block_x, device FROM kernels") == [(519_710, 1024, 0)]
    assert rows(found, "SELECT direction, size_bytes, src_kind, dst_kind FROM memcpys") == [
        ("HtoD", 65_536, "managed", "managed")
    ]
    assert rows(found, "SELECT category, dur_ns, args->>'$.address' FROM events") == [
        ("unified_memory", None, "0x7b552e040000")
    ]


@pytest.mark.slow
def test_csv_of_api_and_gpu(tmp_path: Path) -> None:
    """Units stand in a row of their own; a launch is joined to its kernel by the number in brackets."""
    found = opened(tmp_path, CSV)
    assert rows(found, "SELECT name, kind, start_ns, dur_ns, correlation FROM api_calls ORDER BY start_ns") == [
        ("cuDeviceGetPCIBusId", "driver", 0, 2866, 1),
        ("cudaLaunchKernel", "runtime", 35_863_518, 952, 2),
    ]
    assert rows(
        found,
        """SELECT k.name, k.start_ns, shared_bytes, grid_x, block_y, a.name FROM kernels k
        JOIN api_calls a ON a.id = launch_id""",
    ) == [("void k<int=3>(float, int)", 35_865_000, 2560, 4, 8, "cudaLaunchKernel")]
    assert rows(found, "SELECT direction, size_bytes, src_kind, src_device, dst_device FROM memcpys ORDER BY id") == [
        ("HtoD", 128, "pinned", None, None),
        ("PtoP", 128, "device", 0, 1),
    ]
    assert rows(found, "SELECT name FROM events") == [('[Range start] step 1 (Domain: "x")',)]


def test_a_summary_has_no_timeline(tmp_path: Path) -> None:
    found = opened(tmp_path, SUMMARY)
    assert rows(found, "SELECT section, name, calls, total_ns, avg_ns, min_ns, max_ns FROM summaries WHERE scope IS NULL") == [
        ("GPU activities", "void mm<int=32>(float*, float*)", 301, 2_043_190_000, 6_788_000, 3_692_800, 37_174_000),
        ("GPU activities", "[CUDA memcpy HtoD]", 2, 406_300, 203_150, 136_130, 270_180),
        ("API calls", "cudaMalloc", 3, 1_115_240_000, 371_750_000, 494, 1_115_200_000),
        ("OpenACC (excl)", "acc_wait@main.c:22", 1, 15_782_000, 15_782_000, 15_782_000, 15_782_000),
        ("Unified Memory", "Host To Device", 141, 1_635_900, None, None, None),
    ]  # fmt: skip
    assert rows(found, "SELECT total_bytes FROM summaries WHERE total_bytes IS NOT NULL") == [(16 << 20,)]
    assert rows(found, "SELECT count(*) FROM kernels UNION ALL SELECT count(*) FROM memcpys") == [(0,), (0,)]
    assert rows(found, "SELECT clock FROM captures") == [(nvprof_text.NO_TIMELINE,)]


@pytest.mark.long
def test_ranges_of_a_summary_count_nothing_twice(tmp_path: Path) -> None:
    scoped = rows(opened(tmp_path, SUMMARY), "SELECT scope, section, name FROM summaries WHERE scope IS NOT NULL")
    scope = 'Thread "<unnamed>" (id = 256) / Domain "<unnamed>" / Range "step"'
    assert scoped == [(scope, "Range", "step"), (scope, "GPU activities", "void mm<int=32>(float*, float*)")]


@pytest.mark.long
def test_summaries_of_old_versions_and_in_csv(tmp_path: Path) -> None:
    old = opened(tmp_path, OLD_SUMMARY, "old")
    assert rows(old, "SELECT section, name[:10], calls, total_ns FROM summaries") == [
        ("GPU activities", "void matri", 301, 1_115_240_000),
        ("API calls", "cudaFree", 1, 10_000),
    ]
    commas = opened(tmp_path, CSV_SUMMARY, "csv")
    assert rows(commas, "SELECT section, name, calls, total_ns, avg_ns FROM summaries") == [
        ("GPU activities", "void k(int, int)", 5, 2_500_000, 500_500),
        ("API calls", "cudaMalloc", 1, 1_000_000, 1_000_000),
    ]


@pytest.mark.slow
def test_child_processes_are_ranks(tmp_path: Path) -> None:
    found = opened(tmp_path, CHILDREN)
    assert rows(found, "SELECT rank, pid FROM ranks ORDER BY rank") == [(0, 7522), (1, 8000)]
    assert rows(found, "SELECT rank, count(*), min(start_ns) FROM kernels GROUP BY rank ORDER BY rank") == [
        (0, 2, 70_000),
        (1, 2, 10_070_000),
    ]


@pytest.mark.parametrize("end", first(5, sorted(range(60, len(NEW), 67), key=lambda end: end % 4)))
def test_cut_at_any_byte(tmp_path: Path, end: int) -> None:
    """Whole rows are kept; a row that lacks cells is counted; nothing whole is refused quietly."""
    text = NEW[:end]
    try:
        found = opened(tmp_path, text)
    except InputError as error:
        assert "cannot be used" in str(error) or "not a recognised trace format" in str(error)
        assert text.count("\n") < 7
        return
    n_rows = rows(found, "SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM memcpys)")[0][0]
    n_kept, events, dropped = rows(found, "SELECT n_kept, n_events, coalesce(n_dropped, 0) FROM captures")[0]
    assert n_rows == n_kept == events - dropped
    assert text.endswith("\n") or problems(found)


@pytest.mark.slow
def test_damage_that_is_told(tmp_path: Path) -> None:
    found = opened(tmp_path, gzip.compress(CSV.encode())[:-40], "cut.gz")
    assert "gzip data is cut off" in problems(found)
    noisy = (
        NEW.encode().replace(b"_Z3fooPfi", b"_Z3\xff\xfe\x00Pfi").replace(b"330.09ms     704ns", b"330.09ms     70xns")
    )
    found = opened(tmp_path, noisy, "noisy")
    assert problems(found) == {"rows of nvprof that are cut or damaged": 1}
    assert rows(found, "SELECT count(*) FROM kernels") == [(2,)]


def test_a_log_without_results_says_so(tmp_path: Path) -> None:
    empty = "==5== NVPROF is profiling process 5, command: x\n==5== Profiling result:\nNo kernels were profiled.\n"
    with pytest.raises(InputError, match="it holds no events"):
        opened(tmp_path, empty)
    metrics = (
        "==5== NVPROF is profiling process 5, command: x\n==5== Metric result:\nInvocations  Metric Name  Min  Max\n"
    )
    with pytest.raises(InputError, match="it holds no events"):
        opened(tmp_path, metrics, "metrics")


@pytest.mark.slow
def test_hostile_headers_end_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvprof_text, "MAX_TABLES", 3)
    found = opened(tmp_path, NEW * 5)
    assert problems(found) == {"more than 3 tables: the rest of the log is left out": 1}


@pytest.mark.parametrize("text", [NEW, UNIFIED, CSV, SUMMARY, OLD_SUMMARY, CSV_SUMMARY])
def test_exactly_one_reader_knows_it(tmp_path: Path, text: str) -> None:
    unknown = tmp_path / "unknown"
    unknown.write_text(text)
    assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [nvprof_text]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.77, 0.999])
def test_a_public_log_cut_at_any_byte(shared: Path, tmp_path: Path, share: float) -> None:
    whole = gzip.decompress((shared / "traces/nvprof/gtx980-tf-alexnet-old.txt.gz").read_bytes())
    text = whole[: int(len(whole) * share)]
    found = opened(tmp_path, text)
    n_ends = text.count(b"ms  ") and sum(b"GeForce GTX 980" in line for line in text.splitlines()[:-1])
    n_kept = rows(found, "SELECT n_kept FROM captures")[0][0]
    assert n_kept - n_ends in (0, 1)


@pytest.mark.long
@pytest.mark.shared
def test_public_logs_are_read_to_the_last_row(shared: Path, captures: Any) -> None:
    for name, n_rows in (("old", 3841), ("new", 4278)):
        found = captures.open(shared / f"traces/nvprof/gtx980-tf-alexnet-{name}.txt.gz")
        assert rows(found, "SELECT n_events, n_kept, n_dropped, problems FROM captures") == [
            (n_rows, n_rows, None, None)
        ]


@pytest.mark.slow
def test_a_printed_summary_answers_by_its_totals(tmp_path: Path) -> None:
    found = opened(tmp_path, SUMMARY)
    assert pick(section(found, "kernels/names"), "name", "calls", "total_ns", "max_ns") == [
        ("void mm<int=32>(float*, float*)", 301, 2_043_190_000, 37_174_000)
    ]
    assert pick(section(found, "copies/summary"), "direction", "calls", "unsized", "total_ns") == [
        ("HtoD", 2, 2, 406_300)
    ]
    assert pick(section(found, "overview/categories"), "category", "calls", "busy_ns", "step_pct") == [
        ("other", 301, 2_043_190_000, None),
        ("memcpy_htod", 2, 406_300, None),
    ]
    lines = [line for (line,) in rows(found, sql.load(content("queries") / "footer.sql").body)]
    assert any(line.endswith(": overview, kernels and copies show them for the whole run.") for line in lines)


@pytest.mark.slow
def test_a_summary_of_each_device_is_added_up(tmp_path: Path) -> None:
    """As `nvprof --print-summary-per-gpu` prints them: 100 and 50 calls of 0.8 ms."""
    head = "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
    log = f"""==42== NVPROF is profiling process 42, command: python a.py
==42== Profiling result:
==42== Device "Tesla P100-SXM2-16GB (0)"
{head} GPU activities:   80.00%  80.000ms       100  800.00us  700.00us  900.00us  sgemm
                   20.00%  20.000ms        10  2.0000ms  1.0000ms  3.0000ms  [CUDA memcpy HtoD]
==42== Device "Tesla P100-SXM2-16GB (1)"
{head} GPU activities:   80.00%  40.000ms        50  800.00us  750.00us  850.00us  sgemm
                   20.00%  10.000ms         5  2.0000ms  1.0000ms  3.0000ms  [CUDA memcpy HtoD]
"""
    found = opened(tmp_path, log)
    assert pick(section(found, "kernels/names"), "calls", "total_ns", "mean_ns", "max_ns") == [
        (150, 120_000_000, 800_000, 900_000)
    ]
    assert pick(section(found, "copies/summary"), "calls", "total_ns") == [(15, 30_000_000)]
