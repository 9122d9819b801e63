"""`traceview page`: where the file goes and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from traceview.cli import main

SAMPLE = Path(__file__).parents[2] / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz"


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "lenet.run"
    assert main(["convert", str(SAMPLE), "-o", str(folder)]) == 0
    return folder


@pytest.mark.long
def test_a_page_has_the_name_of_its_input(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page", str(capture)]) == 0
    assert capsys.readouterr().out == "lenet.html\n"
    first = (tmp_path / "lenet.html").read_bytes()
    assert first.startswith(b"<!DOCTYPE html>") and len(first) < 300_000
    assert main(["page", str(capture), "--events", "5"]) == 0
    assert len((tmp_path / "lenet.html").read_bytes()) < len(first)


@pytest.mark.slow
def test_a_page_on_stdout(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page", str(capture), "--events", "5", "-o", "-"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert not list(tmp_path.iterdir())


def test_a_file_of_somebody_else_is_not_replaced(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lenet.html").write_text("mine")
    assert main(["page", str(capture)]) == 2
    assert "lenet.html exists and is not a page of traceview; choose a name with -o." in capsys.readouterr().err
    assert (tmp_path / "lenet.html").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "a.pdf"], "cannot write .pdf to a.pdf; use a name that ends in .htm, .html."),
        (["--step", "x"], "'x' is not a step: write its number"),
        (["--steps", "0"], "'0' is not a number of steps; use 1 or more, or all"),
        (["--events", "0"], "'0' is not a number of slices; use 1 or more"),
        (["--step", "9999", "-o", "x.html"], "the capture has no step 9999; it has steps"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    capture: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["page", str(capture), *options])
    except SystemExit as error:
        code = int(error.code or 0)
    assert code == 2 and message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_runs_stand_on_one_page(capture: Path, tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    assert main(["page", str(capture), "--compare", str(capture), "--compare", str(capture), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.index('<section id="compare">') < text.index('<section id="overview">')
    assert "<title>lenet, lenet, lenet</title>" in text
    assert "One step by layer and pass: 3 bars" in text and "conv2 backward" in text
    assert "within the noise" in text


@pytest.mark.long
@pytest.mark.shared
def test_the_page_of_a_resnet_is_small_and_its_stacks_read_aloud(shared: Path, captures: Any, tmp_path: Path) -> None:
    folder = captures.folder_of(shared / "traces" / "kineto" / "v100-resnet50-train-old.json.gz")
    assert main(["page", str(folder), "-o", str(tmp_path / "resnet.html")]) == 0
    text = (tmp_path / "resnet.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 350_000
    stack = ("CudnnBatchNormBackward", "aten::cudnn_batch_norm_backward", "bn_bw_1C11_kernel_new")
    assert f"<td class=t>{' &gt; '.join(stack)}<" in text
    assert text.count("NVIDIA V100 datasheet, SXM2</p>") == 1
