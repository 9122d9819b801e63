"""Programs that keep memory for nothing, and the same ones mended: what rules say, and what the peak then loses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from asked import ONE

from traceview import store
from traceview.analysis import advice
from traceview.analysis.model import Finding

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "pairs_memory_torch.py"
RULES = ("gradients_kept", "untrained_layers", "evaluation_with_gradients")
LAYER = (512 * 512 + 512) * 4
HEAD = (512 * 10 + 10) * 4
RESULT = 256 * 512 * 4


class Ran(NamedTuple):
    found: dict[str, Finding]
    peak_bytes: int


def ran(folder: Path, *words: str) -> Ran:
    """Record a run, and ask the three rules."""
    capture = folder / "-".join(("run", *words))
    command = [sys.executable, "-m", "traceview", "collect", "--allocations", "-o", str(capture), "--"]
    subprocess.run([*command, sys.executable, str(PROGRAM), *words], check=True, capture_output=True)
    with store.open_capture(capture, ONE) as connection:
        said = {it.rule: it for it in advice.run(connection, advice.load(list(RULES))) if it.status == "found"}
        (peak,) = connection.execute("SELECT max(peak_bytes) FROM memory_peaks").fetchone() or (0,)
        return Ran(said, peak)


@pytest.mark.long
def test_gradients_kept(tmp_path: Path) -> None:
    released = ran(tmp_path)
    assert not released.found
    for words in ("kept", "added"):
        kept = ran(tmp_path, "--gradients", words)
        assert list(kept.found) == ["gradients_kept"]
        bytes_ = 4 * LAYER + HEAD
        assert f"{bytes_ / 1e6:.3f} MB of gradients stay" in kept.found["gradients_kept"].problem
        assert 0 < kept.peak_bytes - released.peak_bytes <= bytes_


@pytest.mark.long
def test_untrained_layers(tmp_path: Path) -> None:
    mended = ran(tmp_path, "--backbone", "no_grad")
    assert not mended.found
    left = ran(tmp_path, "--backbone", "left_out")
    assert list(left.found) == ["untrained_layers"]
    said = left.found["untrained_layers"]
    assert said.place == "body" and said.saving_ns and f"{4 * LAYER / 1e6:.3f} MB of gradients" in said.evidence[0]
    detached = ran(tmp_path, "--backbone", "detached")
    # All four results of tanh, and that of the last product.
    held = 5 * RESULT
    assert detached.found["untrained_layers"].saving_ns is None
    assert f"gradients and {held / 1e6:.3f} MB that they made" in detached.found["untrained_layers"].evidence[0]
    # Without gradients one layer's input and result are there at a time.
    assert detached.peak_bytes - mended.peak_bytes == 3 * RESULT


@pytest.mark.long
def test_evaluation_with_gradients(tmp_path: Path) -> None:
    for words in ("--infer", "--validate"):
        assert not ran(tmp_path, words, "without").found
        found = ran(tmp_path, words, "with_gradients").found
        assert list(found) == ["evaluation_with_gradients"]
        problem = found["evaluation_with_gradients"].problem
        assert "forward passes in evaluation mode run with gradients" in problem
        # Four results of tanh, that of the last layer, and that of its product, as all of them are released together.
        assert words == "--validate" or f"holds {(4 * RESULT + 256 * 10 * 4) / 1e6:.3f} MB" in problem
