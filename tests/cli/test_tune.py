"""`traceview tune` in real runs of small PyTorch scripts: the answer, failures, what is kept, what is applied."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from traceview import cli
from traceview.experiments.results import Journal, write
from traceview.experiments.tune.tuning import Job

SCRIPT = """
import os, sys, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
open("ran.txt", "a").write("x")
if "OUT" in os.environ:
    open(os.path.join(os.environ["OUT"], "model.txt"), "x").write("new")
for step in range(60):
    loss = model(torch.randn(8, 3, 16, 16)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("the end")
"""
OPTIONS = [
    {"place": 1, "name": "layout", "kind": "option", "verdict": "faster", "speedup": 1.5, "low": 1.4, "high": 1.6,
     "pairs": 6, "in_best": True, "how": "model.to(memory_format=torch.channels_last)", "numbers": "close",
     "loss_difference": 1.25e-7, "parameters_difference": 0.0,
     "bound": 1.7, "bound_judged": "reached", "rule": "plain_layout_on_cpu"},
    {"place": 2, "name": "nothing", "kind": "null", "verdict": "no difference seen", "speedup": 1.0, "pairs": 8},
]  # fmt: skip
RUNS = [{"phase": "final", "pair": 1, "place": 1, "side": "base", "options": "", "step_ns": 5_000_000,
         "status": "timed", "others_pct": 1.0, "started_unix_ns": 5, "total_ns": 10**9}]  # fmt: skip


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    return write(tmp_path / "runs", {"tune_runs": RUNS, "tune_options": OPTIONS}, {"kind": "tune", "command": ["x"]})


@pytest.mark.slow
def test_the_answer_is_one_table_with_the_bound_beside_the_speedup(
    answer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["tune", "--report", str(answer), "--format", "json"]) == 0
    sections = {part["name"]: part["rows"] for part in json.loads(capsys.readouterr().out)["sections"]}
    first, null = sections["options"]
    assert (first["option"], first["speedup"], first["interval"]) == ("layout", 1.5, "1.40 to 1.60")
    assert (first["verdict"], first["bound"], first["numbers"]) == ("faster", "1.70, reached", "close (1e-07)")
    assert null["option"] == "nothing (the check)" and null["verdict"] == "no difference seen"
    assert sections["script"][0]["lines"] == "model.to(memory_format=torch.channels_last)"
    (bound,) = sections["bounds"]  # 5 ms a step.
    assert (bound["bound_ns"], bound["gained_ns"], bound["times"]) == (2_058_824, 1_666_667, 1.24)
    assert (bound["bound"], bound["speedup"], bound["speedup_times"]) == (1.7, 1.5, 1.13)
    assert sections["best"][0]["together"] == "faster, 1.50 (1.40 to 1.60)"
    assert sections["runs"][0]["step_ns"] == 5_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "threads", "both", "said"),
    [("changed", "equal", "changed", "; layout changes the numbers"),
     ("changed", "changed", "changed", "; layout and threads change the numbers"),
     ("equal", "equal", "changed", "; together they change the numbers"), ("close", "equal", "close", "")],
)  # fmt: skip
def test_the_answer_says_which_option_of_the_best_changes_the_numbers(
    tmp_path: Path, layout: str, threads: str, both: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {**OPTIONS[0], "loss_difference": None, "parameters_difference": None}
    rows = [
        {**first, "numbers": layout},
        {**first, "place": 3, "name": "threads", "numbers": threads},
        {**first, "place": 4, "name": "layout+threads", "kind": "combination", "numbers": both},
    ]
    write(tmp_path / "runs", {"tune_runs": RUNS, "tune_options": [*rows, OPTIONS[1]]}, {"kind": "tune"})
    assert cli.main(["tune", "--report", str(tmp_path / "runs"), "--format", "json"]) == 0
    sections = {part["name"]: part["rows"] for part in json.loads(capsys.readouterr().out)["sections"]}
    told = f"layout and threads: 1.50 times as fast (1.40 to 1.60), by 6 pairs of fresh runs{said}."
    assert [row["text"] for row in sections["verdict"]] == [told]
    numbers = {row["option"]: row["numbers"] for row in sections["options"]}
    assert both == "close" or numbers["layout+threads"] == "changed (NaN, infinite or not comparable)"


@pytest.mark.slow
@pytest.mark.parametrize(("least", "code"), [("1.4", 0), ("1.6", 1)])
def test_fail_under(answer: Path, least: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tune", "--report", str(answer), "--fail-under", least]) == code
    said = capsys.readouterr().err
    assert ("the best is 1.50 times as fast" in said) == bool(code)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [("faster", "the best is 1.50 times as fast"), ("cannot decide", "no best was shown to be faster")],
)
def test_fail_under_is_asked_of_the_best_alone(
    tmp_path: Path, verdict: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    left_out = {**OPTIONS[0], "place": 3, "name": "huge_pages", "speedup": 1.8, "high": 2.0, "in_best": False}
    rows = [{**OPTIONS[0], "verdict": verdict}, OPTIONS[1], left_out]
    write(tmp_path / "runs", {"tune_runs": RUNS, "tune_options": rows}, {"kind": "tune"})
    assert cli.main(["tune", "--report", str(tmp_path / "runs"), "--fail-under", "1.6"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["--try", "huge_pages"], "--try"), (["--skip", "threads"], "--skip"), (["--plan", "p.json"], "--plan"),
        (["--numerics", "equal"], "--numerics"), (["--try", "malloc_keeps", "--limit-steps", "0"], "--limit-steps"),
        (["--discard", "3"], "--discard"), (["--copy"], "--copy"), (["--env", "BATCH=16"], "--env BATCH"),
    ],
)  # fmt: skip
def test_what_a_session_was_asked_for_cannot_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], changed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = {"tried": ("malloc_keeps",), "steps": 4, "environment": (("BATCH", "64"),)}
    first = Job(["python", "train.py"], tmp_path / "runs", print, **asked)  # type: ignore[arg-type]
    Journal(first.folder, {"kind": "tune", "command": first.command, "settings": first.settings()})
    assert cli.main(["tune", "-o", "runs", "--resume", *words]) == 2
    assert f"{changed} cannot change within runs; begin another folder." in capsys.readouterr().err


@pytest.mark.slow
def test_people_see_the_answer_without_words_about_steps_of_a_trace(
    answer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(answer), "tune"]) == 0
    said = capsys.readouterr().out
    assert "1.70, reached" in said and "3 rows read" in said and "Steps: none found" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no command given"),
        (["--try", "lay_out", "--", "true"], "did you mean layout"),
        (["--budget", "soon", "--", "true"], "write for example 90s"),
        (["--budget", "999999999h", "--", "true"], "--budget: '999999999h' is more than a year"),
        (["--limit-steps", "²", "--", "true"], "'²' is not a number of steps"),
        (["--limit-steps", "99999999999999999999", "--", "true"], "is not a number of steps"),
        (["--env", "OUT", "--", "true"], "is not NAME=VALUE"),
        (["--fail-under", "nan", "--", "true"], "'nan' is not a speed-up; write for example 1.1"),
        (["--report", "absent"], "absent does not exist."),
        (["--report", "."], ". holds no results of traceview tune, schedule or study."),
        (["--apply", "a", "--report", "b"], "--report: not allowed with argument --apply"),
        (["-o", "a", "--resume", "--report", "b"], "it cannot be combined with --report or --apply"),
        (["--resume"], "--resume needs the folder to go on with: -o FOLDER."),
        (["--try", "threads", "--skip", "threads", "--", "true"], "--skip leaves out all that --try names"),
        (["--plan", "absent.json", "--", "true"], "cannot read the plan absent.json: No such file or directory."),
    ],
)
def test_wrong_usage(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(["tune", *words])
    except SystemExit as end:
        code = int(end.code or 0)
    assert code in (2, 3) and said in capsys.readouterr().err


def run(folder: Path, *words: str, command: list[str] | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(SCRIPT)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **more}
    command = [sys.executable, "train.py"] if command is None else command
    return subprocess.run(
        [sys.executable, "-m", "traceview", "tune", *words, "--", *command],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip


def test_folders_that_hold_something_are_left_alone(
    answer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my own").mkdir()
    (tmp_path / "my own" / "notes").touch()
    assert cli.main(["tune", "-o", str(tmp_path / "my own"), "--", "true"]) == 2
    assert "my own exists already; choose another name with -o." in capsys.readouterr().err
    assert cli.main(["tune", "-o", str(answer), "--", "true"]) == 2
    assert "holds runs already: go on with them with --resume" in capsys.readouterr().err


@pytest.mark.slow
def test_a_folder_that_is_named_after_the_script_is_one_plain_word(tmp_path: Path) -> None:
    done = run(tmp_path, command=[sys.executable, "tr ain\n\x1b[31m.py"])
    assert re.search(r"/traceview-tune-tr_ain_31m-[\d-]+/base\n", done.stderr)


@pytest.mark.slow
def test_a_command_that_fails_gives_its_exit_code_and_leaves_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "-o", "runs", command=[sys.executable, "-c", "print('no data'); raise SystemExit(7)"])
    assert done.returncode == 7
    assert "there is nothing to tune: the command failed with exit code 7: no data\n" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_the_best_is_applied_and_nothing_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    row = {**OPTIONS[0], "name": "channels_last"}
    Journal(tmp_path / "runs", {"kind": "tune", "framework": "torch"}).answer({"tune_options": [row]})
    shown = SCRIPT.replace("print(", "print(model[0].weight.is_contiguous(), torch.autograd._profiler_enabled(), ")
    (tmp_path / "show.py").write_text(shown.replace("step()", "step(); assert not torch.autograd._profiler_enabled()"))
    done = run(tmp_path, "--apply", "runs", command=[sys.executable, "show.py"])
    assert (done.returncode, done.stdout) == (0, "False False the end\n"), done.stderr
    failing = run(tmp_path, "--apply", "runs", command=[sys.executable, "-c", "raise SystemExit(3)"])
    assert failing.returncode == 3


def test_runs_that_found_nothing_have_nothing_to_apply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "runs", {"tune_options": OPTIONS[1:]}, {"kind": "tune", "framework": "torch"})
    assert cli.main(["tune", "--apply", str(tmp_path / "runs"), "--", "true"]) == 2
    assert "found no option that was faster" in capsys.readouterr().err


@pytest.mark.long
def test_options_are_tried_measured_and_explained(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    words = ("-o", "runs", "--try", "malloc_thresholds", "--budget", "20s", "--limit-steps", "3", "--env", "OUT={run}")
    done = run(tmp_path, *words, "--copy")
    assert done.returncode == 0, done.stderr
    assert "trying malloc_thresholds: the command is run again and again for up to 20 seconds" in done.stderr
    assert "Gain of each option" in done.stdout
    assert not (tmp_path / "ran.txt").exists(), "every run was in a copy"
    query = "SELECT name, kind, numbers, applied IS NOT NULL FROM raw.tune_options ORDER BY place"
    asked = [sys.executable, "-m", "traceview", "sql", "runs", query, "--format", "json"]
    rows = json.loads(subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert [tuple(row.values())[:3] for row in rows] == [
        ("malloc_thresholds", "option", "equal"),
        ("nothing", "null", "equal"),
    ]


@pytest.mark.long
def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "traceview", "tune", "-o", "runs", "--try", "malloc_thresholds", "--budget", "15s"]
    journal = tmp_path / "runs" / "raw" / "rank-0000.experiment.jsonl"
    with subprocess.Popen(
        [*command, "--limit-steps", "3", "--", sys.executable, "train.py"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as started:  # fmt: skip
        while started.poll() is None and not (journal.exists() and journal.read_text().count("\n") > 1):
            time.sleep(0.2)
        os.killpg(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=600)
    assert started.returncode == 130 and "; go on with -o runs --resume" in said
    before = journal.read_text()
    done = subprocess.run(
        [sys.executable, "-m", "traceview", "tune", "-o", "runs", "--resume", "--budget", "30s"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "again and again for up to 30 seconds" in done.stderr
    assert json.loads((tmp_path / "runs" / "capture.json").read_text())["settings"]["budget_s"] == 30
    assert journal.read_text().startswith(before) and "Gain of each option" in done.stdout
    applied = run(tmp_path, "--apply", "runs")
    assert (applied.returncode, applied.stdout) in ((0, "the end\n"), (2, "")), "2: nothing was faster"
