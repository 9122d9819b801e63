"""The overview: what is per step and rank, and of what."""

from __future__ import annotations

from pathlib import Path

import pytest
from advised import training
from given import Given, conv, pick, section, write

from traceview.analysis import advice, findings, reports
from traceview.render import table
from traceview.store import views


@pytest.mark.long
def test_waiting_and_views_are_no_work(tmp_path: Path) -> None:
    given = Given()
    given.span("step", "train 0", 0, 100)
    for at, name in enumerate(("WaitForVar", "DeleteVariable", "aten::t", "aten::split", "aten::slice", "aten::mm")):
        given.op(name, 10 * at, 10 * at + 10)
    found = section(given.open(tmp_path), "overview/categories")
    assert pick(found, "category", "calls", "busy_ns") == [("gemm", 1, 10_000), ("(CPU idle)", None, 90_000)]


@pytest.mark.long
def test_launches_without_kernels_are_no_busy_cpu(tmp_path: Path) -> None:
    """A recording of counters alone: Kineto with its CUPTI profiler."""
    given = Given()
    given.op("aten::mm", 0, 100)
    given.call("cudaLaunchKernel", 10, 20)
    with given.open(tmp_path) as connection:
        assert section(connection, "overview/categories") == []
        assert pick(section(connection, "overview/run"), "device", "span_ns") == [("?", None)]


@pytest.mark.slow
def test_the_run_is_as_long_as_its_steps_and_the_framework_is_that_of_its_kernels(tmp_path: Path) -> None:
    given = Given()
    for step in range(3):
        given.span("step", f"train {step}", 100 * step, 100 * step + 100)
    given.kernel("void at::native::reduce_kernel<512, 1>(int)", 10, 20, launched=5)
    given.kernel("sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwc_execute_kernel_trt", 20, 30, launched=6)
    with given.open(tmp_path) as connection:
        found = pick(section(connection, "overview/run"), "framework", "span_ns")
    assert found == [("PyTorch", 300_000)]


@pytest.mark.long
def test_an_operator_that_began_before_the_steps_is_counted_where_it_goes_on(tmp_path: Path) -> None:
    """It had 12 ms and no call; and of 495 calls in four steps one was 494.99999."""
    given = Given()
    for step in range(3):
        given.span("step", f"train {step}", 100 * step + 100, 100 * step + 200)
    given.op("aten::sigmoid_backward", 80, 180)
    given.op("aten::mm", 90, 110)
    for step in range(3):
        for at in range(5 + step):
            given.op("aten::relu", 100 * step + 185 + at, 100 * step + 186 + at)
    found = section(given.open(tmp_path), "overview/categories")
    calls = dict(pick(found, "category", "calls"))
    assert calls["activation"] == round((1 + 5 + 6 + 7) / 3, 6)


@pytest.mark.slow
def test_several_devices_of_a_rank_are_added_up_and_shares_are_of_the_step_of_each(tmp_path: Path) -> None:
    """Two devices work at once, 60 of 100 us."""
    given = training(2, 100)
    for start in (0, 100):
        for device in (0, 1):
            given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 70, launched=start + 1, device=device)
    with given.open(tmp_path) as connection:
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "busy_pct", "step_pct") == [
            ("gemm", 120_000, 100, 60),
            ("(GPU idle)", 80_000, None, 40),
        ]
        (line,) = section(connection, "overview/headline")
        assert line["detail"] == "cv <1 %, 2 steps, times below are sums of 2 devices"
        assert pick(section(connection, "overview/step"), "device", "active_ns", "idle_ns") == [
            ("gpu 0", 60_000, 40_000),
            ("gpu 1", 60_000, 40_000),
        ]


@pytest.mark.slow
def test_the_processor_beside_a_gpu_is_no_second_device(tmp_path: Path) -> None:
    """As in every recording on a GPU with a product on the processor: oneDNN's log is recorded, too."""
    given = training(2, 100)
    for start in (0, 100):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 70, launched=start + 1)
        given.primitive("matmul", start + 20, start + 30)
    with given.open(tmp_path) as connection:
        found = section(connection, "overview/categories")
        assert pick(found, "category", "busy_ns", "step_pct") == [("gemm", 60_000, 60), ("(GPU idle)", 40_000, 40)]
        (line,) = section(connection, "overview/headline")
        assert (line["unit"], line["active_pct"], line["detail"]) == ("GPU", 60, "cv <1 %, 2 steps")
        footer = reports.run(connection, "overview").footer
    assert any("CPU primitives beside a GPU, not in device time (2)" in line for line in footer)


def headline(tmp_path: Path, *ranks: Given) -> str:
    """The first lines of the overview."""
    write(tmp_path, *ranks)
    with views.connect(tmp_path) as connection:
        report = reports.run(connection, "overview", best=findings.best)
        (row,) = section(connection, "overview/headline")
        idle = section(connection, "overview/idle")
        rest = section(connection, "overview/categories")[-1]
    # One fact, one number.
    assert row["idle_pct"] == rest["step_pct"] == pytest.approx(sum(cause["step_pct"] for cause in idle))
    assert row["active_pct"] + row["idle_pct"] == pytest.approx(100)
    assert row["cause"] == idle[0]["cause"]
    return next(line for line in table.render(report, 200, False).splitlines() if " active " in line)


@pytest.mark.slow
def test_the_headline_says_where_the_step_went(tmp_path: Path) -> None:
    given = training(3, 100)
    for start in (0, 100, 200):
        given.kernel("ampere_sgemm_128x64_nn", start + 60, start + 70, launched=start + 50)
        given.kernel("ncclKernel_AllReduce_RING_LL_Sum_float", start + 70, start + 90, launched=start + 55)
    assert headline(tmp_path, given) == (
        "Step 100 us (cv <1 %, 3 steps) | GPU active 30.0 % | idle 70.0 %, mostly at the edges of steps"
        " | exposed NCCL 20.0 us"
    )


@pytest.mark.long
def test_steps_that_vary_too_much_are_a_warning(tmp_path: Path) -> None:
    given = training(0)
    for number, (start, end) in enumerate(((0, 10), (10, 20), (20, 30), (30, 1000))):
        given.span("step", f"step#{number}", start, end)
        given.kernel("ampere_sgemm_128x64_nn", start + 2, end - 2, launched=start + 1)
    text = headline(tmp_path, given)
    assert text.startswith(
        "Step 250 us (steps vary too much for their mean to say much: cv 192 %, 4 steps) | GPU active"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("framework", "has_frames", "ends"),
    [("PyTorch", False, ", mostly of unknown cause (collect --stacks tells lines)"),
     ("PyTorch", True, ", mostly of unknown cause"), ("JAX", False, ", mostly of unknown cause")],
)  # fmt: skip
def test_time_of_unknown_cause_leads_to_the_lines_of_the_program(
    tmp_path: Path, framework: str, has_frames: bool, ends: str
) -> None:
    given = training(device=None)
    given.add("captures", rank=0, framework=framework)
    for start in (0, 1000, 2000):
        given.op("aten::mm", start, start + 300, [(8, 8), (8, 8)], ["", ""])
        given.op("aten::mm", start + 800, start + 1000, [(8, 8), (8, 8)], ["", ""])
    if has_frames:
        given.add("ranges", kind="python", name="train.py(7): <module>", pid=1, tid=1, start_ns=0, dur_ns=3_000_000)
    assert headline(tmp_path, given).splitlines()[0].endswith(f"idle 50.0 %{ends}")


@pytest.mark.slow
def test_a_guess_is_said_in_the_headline(tmp_path: Path) -> None:
    """Calls of one module, none of them left out as warm-up, and how much of the work is not in them."""
    given = Given()
    for start, end in ((0, 160), (160, 260), (260, 360), (360, 460)):
        given.span("module", "Net_0", start, start + 40)
        given.span("module", "Linear_0", start + 5, start + 35)
        given.kernel("ampere_sgemm_128x64_nn", start + 20, end, launched=start + 10)
    given.kernel("ampere_sgemm_128x64_nn", 470, 540, launched=465)
    assert headline(tmp_path, given).startswith(
        "Iteration 115 us (cv 26 %, 4 guessed iterations, 84 % of the active time in them) | GPU active "
    )


@pytest.mark.long
def test_without_steps_it_is_the_recording(tmp_path: Path) -> None:
    given = Given()
    given.kernel("ampere_sgemm_128x64_nn", 0, 60)
    given.kernel("ampere_sgemm_128x64_nn", 80, 100)
    text = headline(tmp_path, given)
    with views.connect(tmp_path) as connection:
        report = table.render(reports.run(connection, "overview", best=findings.best), 80, False)
    assert "Over the whole recording, per rank." in report and "of recording [%]" in report
    assert "per step" not in report.lower() and "of step" not in report
    assert text.startswith("Recording 100 us (no steps found) | GPU active 80.0 % | idle 20.0 %, ")


@pytest.mark.long
def test_several_ranks_are_one_line(tmp_path: Path) -> None:
    ranks = []
    for rank, length in enumerate((100, 300)):
        given = training(2, length)
        given.rank = rank
        for start in (0, length):
            given.kernel("ampere_sgemm_128x64_nn", start + 10, start + length - 10, launched=start + 1)
        ranks.append(given)
    text = headline(tmp_path, *ranks)
    assert text.startswith("Step 200 us (mean of 2 ranks, cv <1 %, 4 steps in all) | GPU active 90.0 % | idle 10.0 %")
    with views.connect(tmp_path) as connection:
        found = section(connection, "overview/run")
    assert pick(found, "span_ns", "longest_ns") == [(200_000, 600_000), (600_000, 600_000)]


@pytest.mark.slow
def test_nothing_per_step_is_said_of_a_rank_without_steps_among_others_with_them(tmp_path: Path) -> None:
    trained, other = training(2, 100), training(0)
    other.rank = 1
    for start in (0, 100):
        trained.kernel("ampere_sgemm_128x64_nn", start + 10, start + 60, launched=start + 1)
    other.kernel("ampere_sgemm_128x64_nn", 0, 50, launched=-1)
    text = headline(tmp_path, trained, other)
    assert text.startswith("Step 100 us (cv <1 %, 2 steps, 67 % of the active time in them) | GPU active 50.0 % | idle")
    with views.connect(tmp_path) as connection:
        first = section(connection, "overview/categories")[0]
        assert pick([first], "category", "busy_ns", "step_pct") == [("gemm", 50_000, 50)]
        footer = reports.run(connection, "overview").footer
    assert (
        "Steps: 2 counted, none in 1 of 2 ranks: left out of numbers per step (see --rank); "
        "step source: step annotations." in footer
    )


@pytest.mark.slow
def test_the_most_expensive_convolutions_come_first_and_the_rest_is_one_row(tmp_path: Path) -> None:
    given = training(1, 1000)
    for number in range(9):
        at = 100 * number
        conv(given, at, (8, 3, 32, 32), (number + 1, 3, 3, 3))
        given.kernel("cudnn_ampere_scudnn_128x64_relu_nn_v1", at + 20, at + 30 + number, launched=at + 2)
    with given.open(tmp_path) as connection:
        report = reports.run(connection, "overview", best=findings.best)
    (whole,) = (part for part in report.sections if part.name == "convolutions")
    (short,) = (part for part in reports.shown(report, 30).sections if part.name == "convolutions")
    names = [column.name for column in whole.columns]
    total = [row[names.index("total_ns")] for row in whole.rows]
    assert total == sorted(total, reverse=True) and len(total) == 9
    assert len(short.rows) == 7 and short.rows[:6] == whole.rows[:6]
    assert short.rows[6][0] == "(3 others)" and short.rows[6][names.index("total_ns")] == sum(total[6:])
    assert sum(row[names.index("share_pct")] for row in short.rows) == pytest.approx(100)


def test_copies_are_per_step(tmp_path: Path) -> None:
    given = training(2, 100)
    given.copy("HtoD", -50, -20, launched=-60, size_bytes=10**9)
    for start in (0, 100):
        given.copy("HtoD", start + 20, start + 30, launched=start + 1, size_bytes=5_000)
        given.copy("HtoD", start + 40, start + 50, launched=start + 1, size_bytes=5_000)
    with given.open(tmp_path) as connection:
        (row,) = section(connection, "overview/copies")
    assert (row["calls"], row["size_bytes"], row["busy_ns"]) == (2, 10_000, 20_000)
    assert row["throughput_bytes_per_s"] == pytest.approx(5e8)


@pytest.mark.slow
def test_only_reports_that_have_something_to_say_are_named(tmp_path: Path) -> None:
    given = training(2, 100)
    for start in (0, 100):
        given.kernel("ampere_sgemm_128x64_nn", start + 10, start + 20, launched=start + 1)
    with given.open(tmp_path) as connection:
        commands = [row["command"].split()[-1] for row in section(connection, "overview/next")]
    assert "idle" in commands and not {"conv", "communication", "copies", "memory", "layers"} & set(commands)


@pytest.mark.slow
def test_of_a_processor_without_operators_in_its_steps_nothing_is_said_to_be_idle(tmp_path: Path) -> None:
    """As where only collectives of gloo are recorded: the processor may have worked all the time."""
    given = Given()
    given.span("step", "train 0", 0, 1000)
    given.op("aten::empty", 2000, 2010)
    given.collective("gloo:all_reduce", 100, 800, kind="all_reduce", size_bytes=4000, group_size=2)
    with given.open(tmp_path) as connection:
        (line,) = section(connection, "overview/headline")
        (doubt,) = section(connection, "overview/doubts")
        text = table.render(reports.run(connection, "overview", best=findings.best), 80, False)
    assert (line["active_pct"], line["idle_pct"], line["exposed_ns"], line["detail"]) == (None, None, None, "1 step")
    assert doubt["text"].startswith("Doubt: No operator was recorded in the steps: how busy the processor was is not k")
    assert "CPU active" not in text and "Exposed communication" not in text
    with given.open(tmp_path / "again") as connection:
        assert advice.explained(connection) == ()


@pytest.mark.slow
def test_a_trace_without_a_timeline_says_so(tmp_path: Path) -> None:
    with Given().open(tmp_path) as connection:
        text = table.render(reports.run(connection, "overview", best=findings.best), 80, False)
    assert "No work of a device with times was found: no step can be accounted for." in text
    assert "Nothing in this trace about: idle time, work of a device, kernels and operators," in text


@pytest.mark.slow
def test_work_that_runs_after_the_last_step_is_said(tmp_path: Path) -> None:
    """The kernel launched last runs for 100 us after the end of the last step."""
    given = training(2, 100)
    for start, end in ((0, 50), (100, 150), (200, 300)):
        given.kernel("ampere_sgemm_128x64_nn", start, end, launched=min(start, 190))
    with given.open(tmp_path) as connection:
        (line,) = section(connection, "overview/headline")
    assert line["detail"] == "cv <1 %, 2 steps, 50 % of the active time in them"
    assert line["active_pct"] == 50


@pytest.mark.slow
def test_model_flop_and_mfu_are_a_line_where_shapes_are_recorded(tmp_path: Path) -> None:
    given = Given()
    given.device("NVIDIA A100-SXM4-40GB")
    given.span("step", "ProfilerStep#1", 0, 1000)
    given.op("aten::mm", 0, 10, [[4096, 4096], [4096, 4096]], ["", ""], "c10::BFloat16")
    given.kernel("ampere_bf16_s16816gemm_bf16_128x128_tn", 20, 900, launched=5)
    [known] = section(given.open(tmp_path / "known"), "overview/efficiency")
    assert (known["model_flop"], known["span"], known["at_least"]) == (2 * 4096**3, "per step", "")
    assert known["mfu_pct"] == pytest.approx(100 * 2 * 4096**3 / 1e-3 / 312e12)
    assert (known["device"], known["hfu_pct"], known["unknown"]) == ("bf16, dense; A100-SXM4-40GB", None, None)
    given.device("Other", device=1)
    [mixed] = section(given.open(tmp_path / "mixed"), "overview/efficiency")
    assert mixed["device"] == "bf16, dense"
    del given.rows["devices"][1]
    given.rows["devices"][0]["name"] = "Some Device"
    [unknown] = section(given.open(tmp_path / "unknown"), "overview/efficiency")
    assert unknown["unknown"] == "no peak is known for bf16 on this device" and unknown["mfu_pct"] is None
    given.rows["ops"][0]["types"] = None
    [untyped] = section(given.open(tmp_path / "untyped"), "overview/efficiency")
    assert untyped["unknown"] == "the types of the operands are not recorded" and untyped["mfu_pct"] is None
    del given.rows["ops"]
    assert section(given.open(tmp_path / "untold"), "overview/efficiency") == []


@pytest.mark.slow
def test_what_a_model_costs_is_not_said_of_a_part_of_it(tmp_path: Path) -> None:
    """Shapes are known of one product of two: of the first screen's FLOP they are no sum."""
    for name, known_us in (("little", 100), ("most", 800)):
        given = Given()
        given.op("aten::mm", 0, known_us, [[64, 64], [64, 64]], ["", ""])
        given.op("aten::mm", known_us, 1000)
        with given.open(tmp_path / name) as connection:
            found = section(connection, "overview/efficiency")
        if name == "little":
            assert found == []
        else:
            assert (found[0]["least"], found[0]["model_flop"]) == ("at least ", 2 * 64**3)
            assert found[0]["covered_pct"] == pytest.approx(80)


def test_the_covered_share_of_a_job_is_that_of_all_its_device_time(tmp_path: Path) -> None:
    """Rank 0 is covered for 80 of 100 us, rank 1 for 900 of 900: the share of rank 0 was given as that of both."""
    job = []
    for rank, (known_us, all_us) in enumerate([(80, 100), (900, 900)]):
        given = Given(rank)
        given.op("aten::mm", 0, known_us, [[64, 64], [64, 64]], ["", ""])
        if known_us < all_us:
            given.op("aten::mm", known_us, all_us)
        job.append(given)
    write(tmp_path, *job)
    with views.connect(tmp_path) as connection:
        (found,) = section(connection, "overview/efficiency")
    assert (found["least"], found["covered_pct"]) == ("at least ", pytest.approx(98))


@pytest.mark.slow
def test_work_without_a_launch_is_not_covered(tmp_path: Path) -> None:
    """No operator tells what that computes, which runs in the step all the same."""
    given = training(3, 1000)
    given.device("NVIDIA A100-SXM4-40GB")
    for start in (0, 1000, 2000):
        given.op("aten::mm", start + 10, start + 15, [[512, 512], [512, 512]], ["", ""])
        given.kernel("ampere_sgemm_128x64_nn", start + 20, start + 220, launched=start + 11)
        given.kernel("ampere_sgemm_128x64_nn", start + 300, start + 400)
    with given.open(tmp_path) as connection:
        (found,) = section(connection, "overview/efficiency")
    assert (found["least"], found["covered_pct"]) == ("at least ", pytest.approx(100 * 200 / 300))


def test_a_kernel_beside_a_copy_is_as_expensive_as_it_is_long(tmp_path: Path) -> None:
    """Time in which both run is counted for the copy, which began before; the kernel's own 1,802 us stand beside."""
    given = Given()
    given.device("Tesla V100-SXM2-16GB")
    given.copy("HtoD", 10, 1800, size_bytes=8_000_000)
    given.kernel("vecAdd", 11, 1813)
    given.kernel("scale", 1900, 1950)
    found = section(given.open(tmp_path), "overview/kernels")
    assert pick(found, "name", "busy_ns", "total_ns", "beside_ns") == [
        ("vecAdd", 13_000, 1_802_000, 1_789_000),
        ("scale", 50_000, 50_000, None),
    ]
