"""MIOpen's find database: entries of both forms, gradients with the output first, and files that attack."""

from __future__ import annotations

import bz2
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from traceview.cli import main
from traceview.errors import InputError
from traceview.experiments.imports import miopen, published

FORWARD = (
    "3-30-20-5x3-16-15-10-8-2x1-2x2-1x1-0-NCHW-FP32-F="
    "miopenConvolutionFwdAlgoGEMM:GemmFwdRest,0.25,1200,miopenConvolutionFwdAlgoGEMM,not used;"
    "miopenConvolutionFwdAlgoWinograd:ConvBinWinogradRxSf2x3,0.125,0,miopenConvolutionFwdAlgoWinograd,<unused>"
)
GRADIENTS = (
    "16-15-10-5x3-3-30-20-8-2x1-2x2-1x1-0-NCHW-FP16-B="
    "ConvAsmBwd:0.5,0,miopenConvolutionBwdDataAlgoDirect;GemmBwdRest:1.5,64,miopenConvolutionBwdDataAlgoGEMM\n"
    "8-14-14-3x3-8-14-14-2-1x1-1x1-1x1-0-NHWC-BF16-W_g4="
    "ConvWinograd3x3MultipassWrW<3-4>:0.75,0,miopenConvolutionBwdWeightsAlgoWinograd;"
    "ConvMlirIgemmWrW:2e-1,0,miopenConvolutionBwdWeightsAlgoImplicitGEMM"
)


def rows(tmp_path: Path, text: str, name: str = "gfx90878.HIP.fdb.txt") -> tuple[list[dict[str, Any]], Counter[str]]:
    lost: Counter[str] = Counter()
    (tmp_path / name).write_text(text)
    return list(miopen.read(tmp_path / name, lost)), lost


def test_both_forms_of_entries(tmp_path: Path) -> None:
    found, lost = rows(tmp_path, f"{FORWARD}\n{GRADIENTS}\n")
    assert not lost and {row["device"] for row in found} == {"gfx908, 120 compute units"}
    told = [(row["direction"], row["algorithm"], row["implementation"], row["wall_ns"]) for row in found]
    assert told == [
        ("fprop", "explicit_gemm", "GemmFwdRest", 250_000),
        ("fprop", "winograd", "ConvBinWinogradRxSf2x3", 125_000),
        ("dgrad", "direct", "ConvAsmBwd", 500_000),
        ("dgrad", "explicit_gemm", "GemmBwdRest", 1_500_000),
        ("wgrad", "winograd_nonfused", "ConvWinograd3x3MultipassWrW<3-4>", 750_000),
        ("wgrad", "implicit_gemm", "ConvMlirIgemmWrW", 200_000),
    ]
    shapes = [[row[name] for name in ("in_channels", "height", "width", "out_channels")] for row in found]
    assert shapes[0] == shapes[2] == [3, 30, 20, 16], "the output's gradient stands first in a gradient"
    assert [found[0][name] for name in ("batch", "filter_height", "pad_h", "pad_w", "stride_w")] == [8, 5, 2, 1, 2]
    assert [(row["dtype"], row["groups"], row["layout_in"]) for row in (found[0], found[2], found[4])] == [
        ("float32", 1, "nchw"),
        ("float16", 1, "nchw"),
        ("bfloat16", 4, "nhwc"),
    ]
    assert found[0]["workspace_bytes"] == 1200 and found[0]["flop"] == 2 * 8 * 16 * 3 * 15 * 15 * 10


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("no entry at all", miopen.DAMAGED),
        ("\x00\xff=\x1b[2J", miopen.DAMAGED),
        (FORWARD.replace("FP32", "FP99"), miopen.UNKNOWN),
        (FORWARD.replace("16-15-10-8", "16-99-10-8"), miopen.NO_SHAPE),
        (FORWARD.replace("5x3-", "1x5x3-"), miopen.NO_SHAPE),
        (FORWARD.replace("2x2-1x1", "0x2-1x1"), miopen.NO_SHAPE),
        (FORWARD.replace("30-20", "30-" + "9" * 5000), miopen.NO_SHAPE),
        (FORWARD.split("=")[0] + "=a:b,c;x", miopen.NO_TIME),
        (FORWARD.split("=")[0] + "=Solver:1e999,0,x;Solver:-1,0,x;Solver:nan,0,x;Solver:0,0,x", miopen.NO_TIME),
        (FORWARD.split("=")[0] + "=Solver:1," + "9" * 40 + ",x", miopen.NO_TIME),
        (FORWARD + ";" + "x" * (1 << 17), miopen.DAMAGED),
    ],
)
def test_what_cannot_be_read_is_counted(tmp_path: Path, line: str, what: str) -> None:
    found, lost = rows(tmp_path, f"{line}\n{FORWARD}\n")
    assert len(found) == 2 and set(lost) == {what}


@pytest.mark.slow
def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(miopen, "MOST_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 times"):
        rows(tmp_path, f"{FORWARD}\n{FORWARD}\n")
    monkeypatch.setattr(miopen, "MOST_BYTES", 10_000)
    bomb = tmp_path / "gfx906_60.HIP.fdb.txt.bz2"
    bomb.write_bytes(bz2.compress(b"0" * 50_000_000))
    with pytest.raises(InputError, match="more than 10,000 bytes"):
        list(miopen.read(bomb, Counter()))
    bomb.write_bytes(bomb.read_bytes()[:20])
    with pytest.raises(InputError, match="damaged"):
        list(miopen.read(bomb, Counter()))
    bomb.write_bytes(b"not compressed")
    with pytest.raises(InputError, match="damaged"):
        list(miopen.read(bomb, Counter()))


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("gfx906_60.HIP.2_12_0.ufdb.txt", "gfx906, 60 compute units"),
        ("gfx1030_36.HIP.fdb.txt", "gfx1030, 36 compute units"),
        ("gfx942130.HIP.fdb.txt.bz2", "gfx942, 304 compute units"),
        ("mine.ufdb.txt", None),
    ],
)
def test_the_device_is_in_the_name(name: str, device: str | None) -> None:
    assert miopen.is_database(Path(name)) and miopen.device_of(name) == device


@pytest.mark.slow
def test_it_is_imported_once_and_stands_in_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "gfx90a68.HIP.ufdb.txt"
    file.write_text(f"{FORWARD}\ndamaged\n{GRADIENTS}\n")
    target = str(tmp_path / "published")
    assert main(["study", "import", str(file), "-o", target]) == 0
    said = capsys.readouterr().err
    assert "gfx90a68.HIP.ufdb.txt: 6 times" in said and "1 unparsable lines left out" in said
    assert main(["study", "import", str(file), "--into", target]) == 0
    capsys.readouterr()
    assert main(["report", target, "study", "--format", "json"]) == 0
    printed = capsys.readouterr().out
    assert '"rows_read"' not in printed and "gfx90a, 104 compute units" in printed and '"winograd"' in printed
    (tmp_path / "gfx90878.cd.pdb.txt").write_text("3-30-20=ConvAsm:1,2,3")
    with pytest.raises(InputError, match=r"a database of MIOpen without times"):
        published.gather([tmp_path / "gfx90878.cd.pdb.txt"])
