"""`traceview baseline`: runs kept under a name, their history, and checks against them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from compared import stepping
from given import write

from traceview import cli
from traceview.tables import SCHEMA_VERSION


def capture(folder: Path, busy: float, length: float = 1000) -> str:
    """A capture that every verb opens."""
    write(folder, stepping((length, length + 1, length - 1), busy=busy))
    (folder / "converted.json").write_text(json.dumps({"schema": SCHEMA_VERSION}), encoding="utf-8")
    return str(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Four recordings whose product takes 100 us of 1000, and four where it takes 130."""
    folder = tmp_path_factory.mktemp("runs")
    old = [capture(folder / f"old{n}", 100 + n) for n in range(4)]
    return old, [capture(folder / f"new{n}", 130 + n, 1100) for n in range(4)]


@pytest.mark.slow
def test_a_baseline_is_kept_under_a_name_with_its_history(
    runs: tuple[list[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    old, new = runs
    assert cli.main(["baseline", "save", "main", *old, "--note", "1f3a2bc"]) == 0
    assert capsys.readouterr().err == "traceview: 4 recordings kept in traceview-baselines/main.json.\n"
    assert cli.main(["compare", "--baseline", "main", "--b", *new, "--fail-over", "5%", "--format", "json"]) == 1
    sections = json.loads(capsys.readouterr().out)["sections"]
    (ranking,) = (section["rows"] for section in sections if section["name"] == "ranking")
    assert ranking[1]["ratio"] == pytest.approx(1.1)
    assert cli.main(["baseline", "save", "main", *new]) == 0
    assert cli.main(["baseline", "show", "main", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["sections"][0]["rows"]
    assert [(row["note"], row["recordings"], row["step_ns"]) for row in rows] == [
        ("1f3a2bc", 4, 1e6),
        (None, 4, 1.1e6),
    ]
    assert rows[0]["change_pct"] is None and rows[1]["change_pct"] == pytest.approx(10)
    assert cli.main(["compare", "--baseline", "main", "--b", *new, "--fail-over", "5%"]) == 0
    assert [path.name for path in (tmp_path / "traceview-baselines").iterdir()] == ["main.json"]


@pytest.mark.slow
def test_checks_are_written_for_ci(
    runs: tuple[list[str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = runs
    xml, text = tmp_path / "checks.xml", tmp_path / "summary.md"
    limits = ["--fail-over", "20%", "--fail-over", "category=10%"]
    files = ["--checks", str(xml), "--checks", str(text), "--annotations"]
    assert cli.main(["compare", "--a", *old, "--b", *new, *limits, *files, "-o", str(tmp_path / "out.md")]) == 1
    suite = ElementTree.fromstring(xml.read_text(encoding="utf-8"))
    assert suite.attrib == {"name": "traceview compare", "tests": "2", "failures": "1", "skipped": "0"}
    assert [case.get("name") for case in suite.iter("testcase")] == ["B step", "B category gemm"]
    (failure,) = suite.iter("failure")
    assert str(failure.get("message")).startswith("category gemm of B takes 29.")
    lines = text.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "### traceview: 1 failed check of 2"
    assert [line for line in lines if line.startswith("| failed | B category gemm | +29.")]
    assert [line for line in lines if line.startswith("| passed | B step | +10.0 % (")]
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("::error title=traceview%3A B category gemm::category gemm of B takes 29.")


@pytest.mark.slow
def test_a_hostile_name_ends_no_attribute_line_or_command(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], hostile_kernel: str
) -> None:
    xml, text = tmp_path / "checks.xml", tmp_path / "summary.md"
    files = ["--checks", str(xml), "--checks", str(text), "--annotations", "-o", str(tmp_path / "out.txt")]
    cli.main(["compare", str(trace), str(trace), "--fail-over", "kernel=0%", *files])
    said = capsys.readouterr().err
    for shown in (xml.read_text(encoding="utf-8"), text.read_text(encoding="utf-8"), said):
        assert "\x1b" not in shown and hostile_kernel not in shown
    ElementTree.fromstring(xml.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("save", "x"), "name the recordings to keep: traceview baseline save NAME INPUT..."),
        (("show", "nothing"), "there is no baseline nothing: traceview-baselines/nothing.json does not exist."),
        (("show", "x", "y"), "`baseline show` takes a name alone."),
        *(
            (("save", name, "x"), f"{name!r} cannot name a baseline; give a name that does not begin with a dot.")
            for name in ("", ".", ".main", "here/.json")
        ),
        (("save", "x", "y", "-o", "z"), "`baseline save` writes the file of its NAME; leave out -o and --format."),
    ],
)
def test_wrong_words(
    words: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["baseline", *words]) == 2
    assert capsys.readouterr().err == f"traceview: {told}\n"


@pytest.mark.parametrize(
    "content",
    [
        '{"report": "compare"',
        '{"report": "compare", "history": 3}',
        '{"report": "compare", "history": [{"saved": 1}]}',
        '{"report": "compare", "history": [{"saved": "", "note": "", "recordings": 1, "step_ns": NaN, "low_ns": 1, '
        '"high_ns": 1}]}',
    ],
)
def test_a_changed_file_is_refused_and_kept(
    trace: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "main.json"
    file.write_text(content, encoding="utf-8")
    for words in (("show", str(file)), ("save", str(file), str(trace))):
        assert cli.main(["baseline", *words]) == 3
        assert "is not a baseline written by `traceview baseline save`, or it was changed." in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == content


@pytest.mark.slow
def test_a_recording_counts_once_however_often_it_is_named(
    runs: tuple[list[str], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Copies have no noise between them, so that all would be larger than it."""
    monkeypatch.chdir(tmp_path)
    old, new = runs
    copy = str(shutil.copytree(old[0], tmp_path / "copy"))
    assert cli.main(["baseline", "save", "main", *old[:2], copy]) == 2
    assert capsys.readouterr().err.endswith("old0 and copy are the same recording; name it once.\n")
    assert not Path("traceview-baselines").exists()
    assert cli.main(["compare", "--a", *old, "--b", new[1], new[1], "--fail-over", "5%"]) == 2
    assert "new1 and new1 are the same recording; name it once." in capsys.readouterr().err
    assert cli.main(["compare", old[0], copy, "--fail-over", "5%"]) == 0, "they are two runs, that do not differ"


def test_another_file_is_never_overwritten(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.json"
    file.write_text("{}", encoding="utf-8")
    assert cli.main(["baseline", "save", str(file), str(trace)]) == 2
    assert capsys.readouterr().err == f"traceview: {file} exists and is not a baseline; choose another name.\n"
    assert file.read_text(encoding="utf-8") == "{}"


def test_no_link_in_the_folder_leads_what_is_kept_elsewhere(trace: Path, tmp_path: Path) -> None:
    target, folder = tmp_path / "precious", tmp_path / "here"
    target.write_text("precious")
    folder.mkdir()
    for name in ("main.json.tmp", f".main.json.{os.getpid()}", ".main.json"):
        (folder / name).symlink_to(target)
    assert cli.main(["baseline", "save", str(folder / "main.json"), str(trace)]) == 0
    assert target.read_text() == "precious" and json.loads((folder / "main.json").read_text())
