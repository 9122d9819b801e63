"""Iterations of an inference engine: phase, requests, tokens and time, of given marks and of public traces."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from given import Given, pick, rows, section

from traceview import store
from traceview.analysis import advice
from traceview.store.views import Options

TOLD = """SELECT phase, context_requests, context_tokens, generation_requests, generation_tokens, requests, tokens,
    cached_tokens FROM iterations"""


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("step[DECODE bs=32]", ("decode", None, None, 32, 32, 32, 32, None)),
        ("step[EXTEND bs=15 toks=15360]", ("prefill", 15, 15360, None, None, 15, 15360, None)),
        ("step[IDLE bs=0]", ("idle", None, None, None, None, None, None, None)),
        ("execute_context_2(64)_generation_1(1)", ("mixed", 2, 64, 1, 1, 3, 65, None)),
        ("execute_context_0(0)_generation_4(8)", ("decode", 0, 0, 4, 8, 4, 8, None)),
        (
            "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)",
            ("mixed", 9, 8155, 37, 37, 46, 8192, 8430 + 34489),
        ),
        ("[Executor] _forward_step 7: 1 ctx reqs, 3 gen reqs", ("mixed", 1, None, 3, None, 4, None, None)),
        ("_forward_step: 0 ctx reqs, 3 gen reqs", ("decode", 0, None, 3, None, 3, None, None)),
        ("execute_new_1_cached_2", ("not told", None, None, None, None, None, None, None)),
    ],
)
def test_a_mark_tells_phase_requests_and_tokens(tmp_path: Path, mark: str, told: tuple[object, ...]) -> None:
    given = Given()
    given.span("user", mark, 0, 100)
    assert rows(given.open(tmp_path), TOLD) == [told]


def test_an_inner_mark_completes_an_outer_one(tmp_path: Path) -> None:
    given = Given()
    given.span("user", "execute_new_1_cached_2", 0, 100)
    given.span("user", "step[DECODE bs=3]", 10, 90)
    assert rows(given.open(tmp_path), TOLD) == [("decode", None, None, 3, 3, 3, 3, None)]


def served() -> Given:
    """A prefill, two decodes and a mixed batch; the device is behind the host, and idle for 5 us in the last."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for mark, start, end in (
        ("execute_context_2(100)_generation_0(0)", 0, 20),
        ("execute_context_0(0)_generation_4(4)", 50, 60),
        ("execute_context_0(0)_generation_4(4)", 80, 90),
        ("execute_context_1(30)_generation_4(4)", 110, 120),
    ):
        given.span("user", mark, start, end)
    given.kernel("ampere_sgemm_128x64_tn", 10, 45, launched=5)
    given.kernel("void vllm::reshape_and_cache_flash_kernel<float>(float*)", 45, 50, launched=6)
    given.kernel("ampere_sgemm_128x64_tn", 55, 75, launched=52)
    given.kernel("ampere_sgemm_128x64_tn", 82, 105, launched=81)
    given.kernel("void vllm::reshape_and_cache_flash_kernel<float>(float*)", 115, 120, launched=112)
    given.kernel("ampere_sgemm_128x64_tn", 125, 140, launched=114)
    return given


@pytest.mark.slow
def test_time_tokens_and_work_of_each_phase(tmp_path: Path) -> None:
    connection = served().open(tmp_path)
    found = section(connection, "phases/phases")
    assert pick(found, "phase", "iterations", "requests", "prompt_tokens", "new_tokens", "time_ns", "busy_ns") == [
        ("decode", 2, 4.0, 0.0, 4.0, 25_000.0, 21_500.0),
        ("prefill", 1, 2.0, 100.0, 0.0, 50_000.0, 40_000.0),
        ("mixed", 1, 5.0, 30.0, 4.0, 30_000.0, 20_000.0),
    ]
    assert [each["token_ns"] for each in found] == pytest.approx([50_000 / 8, 500, 30_000 / 34])
    assert [each["tokens_per_s"] for each in found] == pytest.approx([8 / 50e-6, 2e6, 34 / 30e-6])
    assert [each["every_ns"] for each in found] == [30_000, 50_000, None]
    assert [each["share_pct"] for each in found] == pytest.approx([5000 / 130, 5000 / 130, 3000 / 130])
    assert pick(section(connection, "phases/work"), "phase", "work", "calls", "busy_ns") == [
        ("decode", "gemm", 1.0, 21_500.0),
        ("prefill", "gemm", 1.0, 35_000.0),
        ("prefill", "KV cache", 1.0, 5_000.0),
        ("mixed", "gemm", 1.0, 15_000.0),
        ("mixed", "KV cache", 1.0, 5_000.0),
    ]
    assert len(section(connection, "phases/iterations")) == 4


@pytest.mark.slow
def test_iterations_are_the_steps_and_a_long_first_one_counts(tmp_path: Path) -> None:
    connection = served().open(tmp_path)
    same = """SELECT s.dur_ns = i.time_ns, s.is_warmup, s.noun
        FROM iterations i JOIN step_times s ON s.rank = i.rank AND s.step = i.iteration"""
    assert rows(connection, same) == [(True, False, "iteration")] * 4


@pytest.mark.slow
@pytest.mark.parametrize("launched", [1, None], ids=["launches recorded", "not recorded"])
def test_work_between_marks_and_after_the_last_one_is_of_no_iteration(launched: int | None, tmp_path: Path) -> None:
    """Three decodes of 90 us, whose work takes 50 to 95 us; other work begins 700 us after each of them."""
    given = Given()
    for start in (0, 1000, 2000):
        given.span("user", "step[DECODE bs=4]", start, start + 90)
        given.kernel("ampere_sgemm_128x64_tn", start + 10, start + 60, launched=launched and start + launched)
        given.kernel("ampere_sgemm_128x64_tn", start + 89, start + 95, launched=launched and start + launched)
        given.kernel("elementwise_kernel", start + 800, start + 850, launched=launched and start + 790)
    connection = given.open(tmp_path)
    (found,) = section(connection, "phases/phases")
    assert (found["time_ns"], found["busy_ns"], found["every_ns"]) == (95_000, 56_000, 1_000_000)
    assert found["tokens_per_s"] == pytest.approx(4 / 95e-6)
    assert pick(section(connection, "phases/work"), "work", "calls", "busy_ns") == [("gemm", 2.0, 56_000.0)]
    assert rows(connection, "SELECT DISTINCT time_ns FROM iterations") == [(95_000,)]
    assert rows(connection, "SELECT DISTINCT dur_ns FROM step_times") == [(95_000,)]


def test_without_marks_nothing_is_said(tmp_path: Path) -> None:
    given = Given()
    given.span("user", "step[x]", 0, 100)
    assert section(given.open(tmp_path), "phases/phases") == []


KNOWN = "execute_4_context_0(sq0sk0sqsq0sqsk0)_generation_4(sq4sk400sqsq4sqsk400)"


def decoding(mark: str, with_attention: bool = True) -> Given:
    """Two iterations that make four tokens each: a product of 1024 x 2048, and attention over pages of one token."""
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 100):
        given.span("user", mark, start, start + 90)
        given.op("aten::mm", start + 1, start + 20, [[4, 1024], [1024, 2048]], dtype="c10::BFloat16")
        given.kernel("ampere_bf16_s16816gemm_bf16_64x64", start + 10, start + 40, launched=start + 5)
        if with_attention:
            pages = [[4, 8, 64], [999], [4, 8, 64], [99, 1, 2, 64], [99, 1, 2, 64]]
            name = "sglang_profiler::attention_paged_attention_ragged_100"
            given.op(name, start + 21, start + 30, pages, dtype="c10::BFloat16")
            given.kernel("paged_attention_ll4mi_QKV_mfma16_kernel", start + 45, start + 60, launched=start + 25)
    return given


WEIGHTS = 2 * (4 * 1024 + 1024 * 2048 + 4 * 2048)
CACHE = 2 * (2 * 4 * 8 * 64 + 400 * 2 * (64 + 64))
"""Queries and results of four requests; keys and values of 400 tokens."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "cache", "counted"),
    [
        (decoding(KNOWN), CACHE, "weights, keys and values"),
        (decoding("step[DECODE bs=4]"), None, "weights alone: lengths of keys and values are not recorded"),
        (decoding(KNOWN, with_attention=False), None, "weights alone: no attention with known sizes"),
    ],
    ids=["known", "lengths not recorded", "no attention"],
)
def test_the_memory_bounds_tokens_by_weights_and_by_keys_and_values_where_these_are_known(
    given: Given, cache: int | None, counted: str, tmp_path: Path
) -> None:
    (found,) = section(given.open(tmp_path), "phases/memory")
    assert (found["new_tokens"], found["iterations"], found["counted"]) == (4, 2, counted)
    assert (found["weight_bytes"], found["cache_bytes"]) == (WEIGHTS, cache)
    assert found["most_tokens_per_s"] == pytest.approx(4 * 1555e9 / (WEIGHTS + (cache or 0)))
    assert found["least_ns"] == pytest.approx(4e9 / found["most_tokens_per_s"])


@pytest.mark.slow
def test_products_of_experts_and_of_graphs_are_not_in_the_bound_and_counted(tmp_path: Path) -> None:
    """In each of two iterations one in an operator without a cost and one of none: only those of operators with a cost
    were counted, so that nothing said that the bound is of one product in three."""
    given = decoding(KNOWN)
    for start in (0, 100):
        given.op("vllm::moe_forward", start + 31, start + 35)
        given.kernel("_matmul_ogs_NNT_bf16xbf16xmxfp4", start + 60, start + 70, launched=start + 32)
        given.kernel("_matmul_ogs_NNT_bf16xbf16xmxfp4", start + 70, start + 80, launched=start + 36)
    (found,) = section(given.open(tmp_path), "phases/memory")
    assert (found["weight_bytes"], found["counted"]) == (WEIGHTS, "weights, keys and values; not of 4 products")


@pytest.mark.slow
def test_prompts_are_not_bound_by_the_memory(tmp_path: Path) -> None:
    assert section(decoding("step[EXTEND bs=1 toks=4]").open(tmp_path), "phases/memory") == []


@pytest.mark.long
def test_a_public_trace_with_the_capture_of_its_graph(shared: Path) -> None:
    """36 layers: keys and values of 32,785 tokens, 8 heads of 128 and bf16; queries and results of 32 requests."""
    folder = shared / "traces/operators"
    options = Options(capture=folder / "mi300-sglang-capture.json.gz")
    with store.open_capture(folder / "mi300-sglang-decode.json.gz", options) as connection:
        (found,) = section(connection, "phases/memory")
        (advised,) = advice.run(connection, advice.load(["decode_batch"]))
    cache = 36 * (2 * 32_785 * 8 * 128 * 2 + 2 * 32 * 32 * 128 * 2)
    assert (found["cache_bytes"], found["counted"]) == (cache, "weights, keys and values")
    assert found["weight_bytes"] == 14_037_811_200 + 1_254_645_760
    assert found["most_tokens_per_s"] == pytest.approx(32 * 5.3e12 / (found["weight_bytes"] + cache))
    assert "; at most 8,419 as the memory reads 15.3 GB of weights and 4.9 GB of keys and values" in advised.evidence[0]


PUBLIC = {
    "mi300-sglang-decode": ("decode", 32, 37),
    "mi300-sglang-prefill": ("prefill", 15360, 37),
    "mi300-vllm-piecewise": ("mixed", 8192, 24),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC)
def test_public_traces_are_as_a_plain_count_has_them(captures, shared: Path, name: str) -> None:
    phase, tokens, cache_calls = PUBLIC[name]
    path = shared / f"traces/operators/{name}.json.gz"
    connection = captures.open(path)
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    marks = [event for event in events if str(event.get("name", "")).startswith(("execute_", "step["))]
    began = min(float(event["ts"]) for event in marks)
    launched = {
        event["args"]["correlation"]: float(event["ts"]) + float(event["dur"])
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {})
    }
    spans = sorted(
        (float(event["ts"]), float(event["ts"]) + float(event["dur"]))
        for event in events
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
        and launched.get(event["args"]["correlation"], float(event["ts"])) >= began
    )
    busy = until = 0.0
    for start, end in spans:
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    ((found,),) = [section(connection, "phases/phases")]
    assert found["phase"] == phase
    assert found["busy_ns"] / 1e3 == pytest.approx(busy, rel=1e-6)
    assert found["time_ns"] / 1e3 == pytest.approx(until - spans[0][0], rel=1e-6)
    assert found["tokens_per_s"] == pytest.approx(1e6 * tokens / (until - spans[0][0]), rel=1e-6)
    work = {each["work"]: each["calls"] for each in section(connection, "phases/work")}
    assert work["KV cache"] == cache_calls
