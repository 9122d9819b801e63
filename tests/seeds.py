"""One small trace for every format and dialect that is not among `samples/`, as its own reader's test writes it.

Used by whatever damages traces. Invariant: every reader that reads files has a seed here or a sample.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from databases import as_stream, write
from readers.test_caffe_time import LOG as CAFFE
from readers.test_chrome import EVENTS as CHROME
from readers.test_cntk_timing import LOG as CNTK
from readers.test_convnet_benchmarks import TENSORFLOW, TORCH, TUNER
from readers.test_cuda_snapshot import snapshot
from readers.test_experiment import LOG as EXPERIMENT
from readers.test_kineto import EVENTS as KINETO
from readers.test_nsys import PUSH
from readers.test_nsys import TABLES as NSYS
from readers.test_nsys_csv import API, GPU, NVTX, OLD, OLD_TRACE, SUMMARY, UNTITLED
from readers.test_nsys_rep import REPORT
from readers.test_nvprof_db import TABLES as NVPROF
from readers.test_nvprof_db import marker
from readers.test_nvprof_text import CHILDREN, CSV, CSV_SUMMARY, OLD_SUMMARY, UNIFIED
from readers.test_nvprof_text import SUMMARY as NVPROF_SUMMARY
from readers.test_onednn import DNNL, V0, V2
from readers.test_perfetto import small as perfetto_small
from readers.test_rocm_db import ROCPD, RPD, RUN, later_schema
from readers.test_rocprof import HIP as ROCPROF_HIP
from readers.test_rocprof import OPS as ROCPROF_OPS
from readers.test_rocprof import events as rocprof_events
from readers.test_rocprofv3 import small

TF_TIMELINE = [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "/job:localhost/replica:0/task:0/gpu:0 Compute"}},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/gpu:0/stream:all Compute"}},
    {"ph": "X", "cat": "Op", "name": "Conv2D", "pid": 0, "tid": 0, "ts": 1490280136316529, "dur": 50,
     "args": {"name": "conv1/Conv2D", "op": "Conv2D", "input0": "conv1/weights"}},
    {"ph": "X", "cat": "Op", "name": "Conv2D", "pid": 1, "tid": 0, "ts": 1490280136316539, "dur": 30,
     "args": {"name": "conv1/Conv2D:Conv2D", "op": "Conv2D"}},
    {"ph": "X", "cat": "Op", "name": "MEMCPYHtoD", "pid": 1, "tid": 1, "ts": 1490280136316570, "dur": 3,
     "args": {"name": "edge_5", "op": "MEMCPYHtoD"}},
]  # fmt: skip
TF_TRACE = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
    {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/host:CPU"}},
    {"ph": "M", "pid": 1, "tid": 3, "name": "thread_name", "args": {"name": "Stream #13(Compute)"}},
    {"ph": "X", "pid": 1, "tid": 3, "ts": 2000.25, "dur": 40.5, "name": "implicit_convolve_sgemm",
     "args": {"correlation_id": "7", "tf_op": "conv1/Conv2D:Conv2D",
              "kernel_details": "regs:60 static_shared:0 dynamic_shared:0 grid:4,1,1 block:256,1,1 occ_pct:50.0"}},
    {"ph": "X", "pid": 2, "tid": 9, "ts": 1990, "dur": 5, "name": "cuLaunchKernel", "args": {"correlation_id": "7"}},
    {"ph": "X", "pid": 2, "tid": 9, "ts": 1980, "dur": 90, "name": "train", "args": {"step_num": "3", "_r": "1"}},
    {},
]  # fmt: skip
STEP = {"cat": "user_annotation", "name": "ProfilerStep#1", "ph": "X", "pid": 7, "tid": 7, "ts": 90, "dur": 900}
TEXTS = {
    "caffe_time": (CAFFE,),
    "cntk_timing": (CNTK,),
    "convnet_benchmarks": (TORCH, TUNER, TENSORFLOW),
    "experiment": (EXPERIMENT,),
    "nsys_csv": (GPU + API + NVTX, SUMMARY, UNTITLED, OLD, OLD_TRACE),
    "nvprof_text": (CHILDREN, UNIFIED, CSV, NVPROF_SUMMARY, OLD_SUMMARY, CSV_SUMMARY),
    "onednn": (V0, DNNL, V2),
}
DATABASES: dict[str, tuple[dict[str, list[Any]], ...]] = {
    "nsys": (NSYS,),
    "nvprof": ({**NVPROF, "CUPTI_ACTIVITY_KIND_MARKER": [marker(2, 0, 1), marker(4, 900, 1, 0)]},),
    "rocprof": ({"OPS": ROCPROF_OPS, "HIP": ROCPROF_HIP},),
    "rocm_db": (RPD, {f"{name}{RUN}": rows for name, rows in ROCPD.items()}, later_schema(ROCPD)),
}


def seeds(folder: Path) -> list[Path]:
    """Write all of them; the name of a file begins with that of its reader."""
    written = []
    for name, content in _files():
        path = folder / name
        path.write_bytes(content)
        written.append(path)
    for reader, databases in DATABASES.items():
        written += [write(folder / f"{reader}-{number}.db", tables) for number, tables in enumerate(databases)]
    push = [{**PUSH, "textId": None, "end": 1200 + number} for number in range(3)]
    source = write(folder / "nsys-source.db", {**NSYS, "NVTX_EVENTS": push})
    written.append(as_stream(source, folder / "nsys-stream.arrow"))
    source.unlink()
    return sorted(written)


def _files() -> Iterator[tuple[str, bytes]]:
    for reader, texts in TEXTS.items():
        for number, text in enumerate(texts):
            yield f"{reader}-{number}.txt", text.encode()
    kineto = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
        "traceEvents": [STEP, *KINETO],
    }
    yield "kineto-gpu.json", json.dumps(kineto).encode()
    yield "kineto-lines.json", b"[\n" + b",\n".join(json.dumps(event).encode() for event in KINETO) + b"\n]"
    yield "chrome-array.json", json.dumps(CHROME).encode()
    yield "chrome-object.json", json.dumps({"traceEvents": CHROME, "displayTimeUnit": "ms"}, indent=1).encode()
    yield "tf_timeline-gpu.json", json.dumps({"traceEvents": TF_TIMELINE}).encode()
    yield "tf_trace-gpu.json", json.dumps({"displayTimeUnit": "ns", "traceEvents": TF_TRACE}).encode()
    yield "rocprofv3-small.json", json.dumps(small()).encode()
    yield "rocprofv3-indented.json", json.dumps(small(), indent=2).encode()
    yield "rocprof-json.json", rocprof_events().encode()
    yield "perfetto.pftrace", perfetto_small()
    yield "cuda_snapshot.pickle", pickle.dumps(snapshot(), 4)
    yield "nsys_rep.nsys-rep", REPORT
