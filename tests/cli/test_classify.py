"""`traceview classify`: names from arguments or stdin, three formats, reasons, context, hostile names."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from traceview import cli


def run(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert cli.main(["classify", *args]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    head, first, second = run(capsys, "ampere_sgemm_64x64_nn", "aten::relu_").splitlines()
    assert head.split() == ["category", "algorithm", "direction", "role", "library", "rule", "name"]
    assert first.split()[0] == "gemm" and first.endswith("ampere_sgemm_64x64_nn")
    assert second.split()[:3] == ["activation", "-", "-"]


def test_json_has_null_for_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = json.loads(run(capsys, "--format", "json", "maxwell_scudnn_128x64_relu_small_nn"))
    assert row["category"] == "conv"
    assert row["algorithm"] == "implicit_precomp_gemm"
    assert row["direction"] == "fprop"
    (row,) = json.loads(run(capsys, "--format", "json", "--why", "mystery"))
    assert (row["category"], row["algorithm"]) == ("other", None)
    assert row["why"] and row["context"]


def test_csv_quotes_names_with_commas(capsys: pytest.CaptureFixture[str]) -> None:
    name = "void flip_filter<float, float>(float*, float const*)"
    rows = list(csv.DictReader(io.StringIO(run(capsys, "--format", "csv", name))))
    assert [row["name"] for row in rows] == [name]
    assert rows[0]["role"] == "helper"


def test_why_names_rule_reason_and_context(capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "--why", "volta_sgemm_64x64_nn")
    assert "rule     kernels.toml#" in text
    assert "because" in text
    assert "Winograd between Winograd transforms" in text


def test_context_from_operator_and_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--op", "aten::cudnn_convolution", "--with", "winogradForwardData4x4", "--format", "json"]
    (row,) = json.loads(run(capsys, *args, "volta_sgemm_64x64_nn"))
    assert (row["category"], row["algorithm"], row["direction"]) == ("conv", "winograd_nonfused", "fprop")


def test_names_from_stdin_and_hostile_names() -> None:
    data = b"ampere_sgemm_64x64_nn\r\n\n\x1b[31mred\x07\t\xff\n"
    command = [sys.executable, "-m", "traceview", "classify"]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == 3
    assert b"\x1b" not in done.stdout and b"\x07" not in done.stdout and b"\t" not in done.stdout
    assert rb"\x1b[31mred\x07\t\xff" in done.stdout


def test_a_newline_inside_an_argument_stays_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(run(capsys, "a\nb").splitlines()) == 2


def test_no_names_is_no_rows() -> None:
    for form, expected in (("json", b"[]\n"), ("csv", b"category,algorithm,direction,role,library,rule,name\n")):
        command = [sys.executable, "-m", "traceview", "classify", "--format", form]
        assert subprocess.run(command, input=b"", capture_output=True, check=True).stdout == expected
