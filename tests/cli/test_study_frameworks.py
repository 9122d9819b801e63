"""traceview study frameworks: what it is asked, programs that answer anything, and real runs."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import first

import traceview
from traceview.cli import main
from traceview.experiments.frameworks.listed import environments, frameworks, models
from traceview.experiments.results import Journal
from traceview.render.charts import colour

STAND_IN = """#!{python}
# Stands in for the Python of a framework that is not here: it prints what a program of that framework would.
import json, sys
words = dict(zip(sys.argv[4::2], sys.argv[5::2]))
mode, batch = words["--mode"], int(words["--batch"])
ms = {{"forward": 1.0, "gradient": 3.0, "train": 3.5}}[mode] * {factor}
said = dict(framework="x", version={version!r}, model="lenet", mode=mode, batch=batch, parameters=431080)
said.update(threads={threads} or int(words["--threads"]))
said.update(layout=words["--layout"], device="cpu", optimizer="SGD, rate 0.01", loss=2.0, steps=3)
said.update(discarded=1, mean_ms=ms, sd_ms=0.0, step_ms=[ms, ms])
open({log!r}, "a").write(mode + "\\n")
print(json.dumps(said))
"""


def stand_in(folder: Path, name: str, factor: float = 1.0, version: str = "1", threads: int = 0) -> str:
    path = folder / name
    body = STAND_IN.format(
        python=sys.executable, factor=factor, version=version, threads=threads, log=str(folder / "log")
    )
    path.write_text(body)
    path.chmod(0o755)
    return str(path)


def study(folder: Path, *words: str) -> int:
    words = ("--layout", "nchw", "--no-captures", *words)
    return main(["study", "frameworks", "-o", str(folder / "study"), *words])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--models", "lenett"], "'lenett' is not a list of models; choose from lenet, alexnet, autoencoder, lstm"),
        (["--frameworks", "caffe"], "is not a list of frameworks; choose from torch, tensorflow, keras-tensorflow"),
        (["--threads", "0"], "'0' is not a list of counts"),
        (["--threads", "\u00b2"], "is not a list of counts"),
        (["--rounds", "9" * 5000], "is not a count"),
        (["--rounds", "0"], "'0' is not a count"),
        (["--layout", "chwn"], "choose from nchw, nhwc"),
        (["--steps", "3"], "--steps 3 leaves no step to time after the discarded ones; see --discard"),
        (["--python", "torch"], "'torch' is not NAME=PATH"),
        (["--python", "caffe=python3"], "there is no framework caffe; choose from"),
        (["--python", "torch=no-such-python"], "there is no program no-such-python"),
        (["--resume"], "--resume needs the folder"),
        (["--budget", "x"], "'x' is not a time; write for example 90s"),
    ],
)
def test_what_is_wrong_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["study", "frameworks", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_every_framework_has_an_environment_and_is_named_once() -> None:
    for framework in frameworks().values():
        assert framework.environment in environments(), framework
        assert framework.modes[0] == "forward"


def test_models_are_those_of_the_samples(root: Path) -> None:
    path = str(root / "samples/training")
    sys.path.insert(0, path)
    try:
        timing = importlib.import_module("timing")
    finally:
        sys.path.remove(path)
    for name, model in models().items():
        there = timing.MODELS[name]
        assert (model.parameters, model.batch) == (there.parameters, there.batch)
        assert model.optimizer == timing.optimizer(there)
        assert model.images == (len(there.shape) == 3)


@pytest.mark.slow
def test_frameworks_take_turns_and_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow, fast = stand_in(tmp_path, "slow", 2.0), stand_in(tmp_path, "fast", version="2\x1b[31mred")
    words = ["--frameworks", "torch,mxnet", "--python", f"torch={slow}", "--python", f"mxnet={fast}", "--rounds", "2"]
    assert study(tmp_path, *words, "--batch", "2") == 0
    printed = capsys.readouterr()
    assert "torch lenet forward batch 2 threads 1 nchw: 2.00 ms" in printed.err
    rounds = [line.split("] ")[1].split(":")[0] for line in printed.err.splitlines() if "/12] " in line]
    assert sorted(rounds[:6]) == sorted(rounds[6:12]) and len(set(rounds[:6])) == 6, "every process once a round"
    assert "\x1b[31m" not in printed.out and "Forward pass, gradient and update" in printed.out
    with traceview.open(tmp_path / "study") as trace:
        rows = trace.execute(
            "SELECT framework, forward_ns, gradient_ns, update_ns, training_ns, training_sd_ns, n "
            "FROM framework_speeds WHERE NOT is_published ORDER BY framework"
        ).fetchall()
    assert rows == [("mxnet", 1e6, 2e6, 0.5e6, 3.5e6, 0, 2), ("torch", 2e6, 4e6, 1e6, 7e6, 0, 2)]
    assert main(["report", str(tmp_path / "study")]) == 0
    assert "`traceview study frameworks` measured" in capsys.readouterr().out
    assert main(["report", str(tmp_path / "study"), "frameworks", "--format", "json"]) == 0
    sections = {section["name"]: section["rows"] for section in json.loads(capsys.readouterr().out)["sections"]}
    ranked = [(row["what"], row["framework"], row["time_ns"]) for row in sections["ranking"]]
    what = "lenet training step, batch 2, 1 thread, nchw"
    # Whether they have places depends on who else uses this machine meanwhile.
    assert sorted(ranked[-2:]) == [(what, "mxnet", 3.5e6), (what, "torch", 7e6)]


@pytest.mark.long
def test_other_threads_are_not_put_beside_unless_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = stand_in(tmp_path, "one"), stand_in(tmp_path, "two", threads=2)
    words = ["--frameworks", "torch,mxnet", "--python", f"torch={one}", "--python", f"mxnet={two}", "--rounds", "1"]
    assert study(tmp_path, *words) == 0
    assert "not as asked: threads 2, not 1" in capsys.readouterr().err
    report = ["report", str(tmp_path / "study"), "frameworks", "--format", "json"]
    assert main(report) == 0
    sections = {section["name"]: section["rows"] for section in json.loads(capsys.readouterr().out)["sections"]}
    assert [row["framework"] for row in sections["times"]] == ["torch 1"] and sections["ranking"] == []
    refused = sections["refused"][0]
    assert (refused["framework"], refused["status"], refused["reason"]) == ("mxnet", "differs", "threads 2, not 1")
    assert main([*report, "--set", "accept=threads"]) == 0
    sections = {section["name"]: section["rows"] for section in json.loads(capsys.readouterr().out)["sections"]}
    assert len(sections["times"]) == 2 and len(sections["ranking"]) == 6


@pytest.mark.long
def test_what_is_there_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--frameworks", "torch", "--python", f"torch={stand_in(tmp_path, 'one')}", "--rounds", "1"]
    assert study(tmp_path, *words) == 0
    journal = tmp_path / "study/raw/rank-0000.experiment.jsonl"
    lines = journal.read_text().splitlines()
    # As after SIGKILL in the middle of a line.
    journal.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:20])
    (tmp_path / "log").unlink()
    assert study(tmp_path, *words, "--resume") == 0
    last = json.loads(lines[-1])["row"]["mode"]
    assert (tmp_path / "log").read_text().split() == [last]
    assert study(tmp_path, *words) == 2
    assert "exists already" in capsys.readouterr().err
    assert study(tmp_path, *words[:-1], "2", "--resume") == 0
    assert sorted((tmp_path / "log").read_text().split()[1:]) == ["forward", "gradient", "train"]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "changed"), [(["--steps", "2"], "--steps"), (["--discard", "0"], "--discard")])
def test_steps_cannot_change_within_a_study(
    tmp_path: Path, words: list[str], changed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = ["--frameworks", "torch", "--python", f"torch={stand_in(tmp_path, 'one')}", "--rounds", "1"]
    assert study(tmp_path, *plan) == 0
    assert study(tmp_path, *plan, *words, "--discard", "0", "--rounds", "2", "--resume") == 2
    assert f"{changed} cannot change within {tmp_path / 'study'}; begin another folder." in capsys.readouterr().err
    assert len((tmp_path / "log").read_text().split()) == 3, "nothing more was run"


@pytest.mark.slow
def test_a_framework_that_is_not_here_says_how_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--frameworks", "cntk", "--environments", str(tmp_path / "none")]
    assert study(tmp_path, *words) == 3
    printed = capsys.readouterr()
    assert "No framework has times here" in printed.out and "no process gave times" in printed.err
    assert "missing: no environment in" in printed.err and "environments.py" in printed.err
    assert "cntk" in printed.out
    # Gone on with once it is there.
    assert study(tmp_path, *words, "--python", f"cntk={stand_in(tmp_path, 'one')}", "--resume") == 0
    report = ["report", str(tmp_path / "study"), "frameworks", "--format", "json"]
    assert "cntk" in capsys.readouterr().out and main(report) == 0
    sections = {section["name"]: section["rows"] for section in json.loads(capsys.readouterr().out)["sections"]}
    assert [row for row in sections["refused"] if row["framework"] == "cntk"] == []


def test_the_budget_ends_it_between_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--frameworks", "torch", "--python", f"torch={stand_in(tmp_path, 'one')}", "--rounds", "3"]
    assert study(tmp_path, *words, "--budget", "0.000001s") == 0
    said = capsys.readouterr().err
    assert "the budget is spent: 8 processes are not run; go on with" in said
    assert "--resume" in said


def test_a_budget_that_the_times_use_up_says_that_nothing_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--frameworks", "opencv", "--python", f"opencv={stand_in(tmp_path, 'one')}", "--rounds", "1"]
    folder = tmp_path / "study"
    command = ["study", "frameworks", "-o", str(folder), "--layout", "nchw", *words, "--budget", "0.000001s"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert "the budget is spent: 1 recording of layers and libraries is not made" in said
    assert f"go on with the same command and -o {folder} --resume." in said
    assert not (folder / "captures").exists()


def test_stopping_leaves_a_capture_to_go_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from traceview.experiments.frameworks import comparing as measured

    def stopped(plan: object, journal: Journal, watch: object) -> None:
        journal.add("framework_times", {"framework": "torch", "model": "lenet", "status": "failed", "reason": "none"})
        raise KeyboardInterrupt

    monkeypatch.setattr(measured, "measure", stopped)
    assert study(tmp_path) == 130
    folder = tmp_path / "study"
    said = f"stopped; what was measured is in {folder}, go on with the same command and -o {folder} --resume."
    assert said in capsys.readouterr().err
    with traceview.open(tmp_path / "study") as trace:
        assert trace.execute("SELECT reason FROM raw.framework_times WHERE status = 'failed'").fetchall() == [("none",)]


IN_TURN = "import os, time; open('{0}', 'a').write('x'); len(open('{0}').read()) == {1} and ({2})"
"""Work of the process of this number alone; processes run in random order."""


def until_measured(folder: Path, n_rows: int) -> None:
    """Wait until so many processes are measured."""
    journal = folder / "raw/rank-0000.experiment.jsonl"
    for _ in range(3000):
        if journal.exists() and journal.read_text().count("framework_times") == n_rows:
            return
        time.sleep(0.1)
    raise AssertionError("it never came so far")


@pytest.mark.slow
@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", first(1, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_ends_the_study_and_all_that_it_started(tmp_path: Path, number: signal.Signals) -> None:
    python = Path(stand_in(tmp_path, "one"))
    # The second process takes longer than the study lives.
    waits = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())), time.sleep(600)"
    python.write_text(python.read_text().replace("print(", f"{IN_TURN.format(tmp_path / 'n', 2, waits)}; print("))
    words = [sys.executable, "-m", "traceview", "study", "frameworks", "-o", str(tmp_path / "study"), "--no-captures"]
    words += ["--layout", "nchw", "--frameworks", "torch", "--rounds", "1", "--python", f"torch={python}"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    until_measured(tmp_path / "study", 1)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.05)
    process.send_signal(number)
    said = process.communicate()[1]
    assert process.returncode == 128 + number
    assert "stopped; what was measured is in" in said and "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    with traceview.open(tmp_path / "study") as trace:
        assert trace.execute("SELECT count(mode) FROM raw.framework_times WHERE status = 'timed'").fetchall() == [(1,)]


@pytest.mark.long
def test_a_killed_study_is_gone_on_with(tmp_path: Path) -> None:
    python = Path(stand_in(tmp_path, "one"))
    # The third process takes longer than the study lives.
    waits = f"os.path.exists({str(tmp_path / 'go')!r}) or time.sleep(600)"
    python.write_text(python.read_text().replace("print(", f"{IN_TURN.format(tmp_path / 'n', 3, waits)}; print("))
    words = [sys.executable, "-m", "traceview", "study", "frameworks", "-o", str(tmp_path / "study"), "--no-captures"]
    words += ["--layout", "nchw", "--frameworks", "torch", "--rounds", "1", "--python", f"torch={python}"]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until_measured(tmp_path / "study", 2)
    process.kill()
    process.wait()
    (tmp_path / "go").touch()
    report = ["report", str(tmp_path / "study"), "frameworks"]
    assert main(report) == 0, "what it left is a capture already"
    done = subprocess.run([*words, "--resume"], capture_output=True, text=True, check=True)
    assert "[1/1] torch lenet " in done.stderr


@pytest.mark.long
def test_torch_is_measured_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    words = ["study", "frameworks", "-o", str(tmp_path / "study"), "--frameworks", "torch", "--python"]
    words += [f"torch={sys.executable}", "--batch", "2", "--steps", "3", "--discard", "1", "--rounds", "1"]
    assert main([*words, "--layout", "nchw"]) == 0
    printed = capsys.readouterr()
    assert "recorded captures/lenet-torch" in printed.err and "torch 2." in printed.out
    with traceview.open(tmp_path / "study") as trace:
        told = trace.execute(
            "SELECT mode, batch, threads_seen, parameters, optimizer, steps, status FROM raw.framework_times "
            "WHERE framework = 'torch' AND status = 'timed' ORDER BY mode"
        ).fetchall()
        parts = trace.execute(
            "SELECT DISTINCT layer, category FROM raw.framework_parts WHERE capture = 'captures/lenet-torch'"
        ).fetchall()
        bias = trace.execute(
            "SELECT form, sum(calls) FROM raw.framework_parts WHERE category = 'bias' AND form IS NOT NULL "
            "AND source IS NULL AND layer LIKE 'conv%' GROUP BY form"
        ).fetchall()
    assert told == [
        ("forward", 2, 1, 431_080, None, 2, "timed"),
        ("gradient", 2, 1, 431_080, None, 2, "timed"),
        ("train", 2, 1, 431_080, "SGD, rate 0.01", 2, "timed"),
    ]
    assert {("conv1", "conv"), ("conv2", "conv"), ("fc1", "gemm"), ("relu1", "activation")} <= set(parts)
    assert bias == [("fused", 2.0)]
    capture = str(tmp_path / "study/captures/lenet-torch")
    assert main(["compare", capture, capture]) == 0
    assert main([*words, "--layout", "nchw", "--resume"]) == 0
    assert "recorded" not in capsys.readouterr().err, "it is not recorded again"


def test_what_cannot_be_recorded_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--frameworks", "mxnet", "--python", f"mxnet={stand_in(tmp_path, 'one')}", "--rounds", "1", "--captures"]
    assert study(tmp_path, *words) == 0
    printed = capsys.readouterr()
    assert "captures/lenet-mxnet could not be recorded: no capture" in printed.err
    assert "capture" in printed.out and not (tmp_path / "study/captures/lenet-mxnet").exists()


@pytest.mark.long
def test_the_page_shows_the_parts_of_a_step(tmp_path: Path) -> None:
    words = ["--frameworks", "torch", "--python", f"torch={stand_in(tmp_path, 'one')}", "--rounds", "1"]
    assert study(tmp_path, *words, "--threads", "1,2") == 0
    assert main(["page", str(tmp_path / "study"), "-o", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "Frameworks on the same models" in page and "lenet, batch 64, 1 thread, nchw" in page
    assert "By threads" in page
    assert len({colour(part) for part in ("forward", "gradient", "update")}) == 3
    assert all(f'fill="{colour(part)}"' in page for part in ("forward", "gradient"))
    assert "Nothing was found" not in page and "No answer: the rules need data" not in page, "it has no rules"
    assert "forward: 1.0" in page and "gradient: 2.0" in page


@pytest.mark.long
def test_ctrl_c_while_recording_ends_the_study(tmp_path: Path) -> None:
    python = Path(stand_in(tmp_path, "one"))
    waits = "import os, time; os.environ.get('TRACEVIEW_DIR') and (print(flush=True), time.sleep(600))"
    python.write_text(python.read_text().replace("print(json", f"{waits}; print(json"))
    words = [
        sys.executable,
        "-m",
        "traceview",
        "study",
        "frameworks",
        "-o",
        str(tmp_path / "study"),
        "--layout",
        "nchw",
    ]
    words += ["--frameworks", "torch,mxnet", "--rounds", "1"]
    words += ["--python", f"torch={python}", "--python", f"mxnet={python}"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    # The log alone has a line of the runs before, which were measured.
    log, captures = tmp_path / "study/output/lenet-torch.txt", tmp_path / "study/captures"
    for _ in range(6000):
        if log.exists() and log.stat().st_size and captures.exists() and list(captures.iterdir()):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 130 and "stopped; what was measured is in" in said
    assert "lenet-mxnet" not in said and not list(captures.iterdir())
    assert main(["report", str(tmp_path / "study"), "frameworks"]) == 0
