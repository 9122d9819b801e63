"""Whatever is wrong with a file, the answer is a whole capture or one sentence, and nothing is left behind.

The damage follows from its number, so a failure repeats; `make fuzz` does the same for as long as one likes, and
TRACEVIEW_MUTATIONS=10000 for that many.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from mutations import SAMPLES, mutant, originals
from promises import trouble
from seeds import seeds

from traceview.decode.files import peek
from traceview.readers import READERS, detect

N_MUTATIONS = int(os.environ.get("TRACEVIEW_MUTATIONS", 80))
N_GROUPS = 8
REPORTS_EVERY = 23


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """Seeds of every format and the smallest samples: time goes into the number of mutations."""
    return [*seeds(tmp_path_factory.mktemp("seeds")), *originals(SAMPLES, 10_000)]


def test_every_reader_has_a_seed(files: Sequence[Path]) -> None:
    found = {path: detect(peek(path)).NAME for path in files}
    assert set(found.values()) == {reader.NAME for reader in READERS}
    written = {path.name: name for path, name in found.items() if SAMPLES not in path.parents}
    assert written == {name: name.split(".")[0].split("-")[0] for name in written}


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_damage_is_a_capture_or_a_sentence(
    group: int, files: Sequence[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for number in range(group, N_MUTATIONS, N_GROUPS):
        path = files[number % len(files)]
        found = trouble(mutant(path.read_bytes(), number), tmp_path, number % REPORTS_EVERY == 0)
        assert found is None, f"mutation {number} of {path.name}:\n{found}"


def test_a_mutation_follows_from_its_number(files: Sequence[Path]) -> None:
    for path in files:
        data = path.read_bytes()
        assert mutant(data, 7) == mutant(data, 7)
    assert len({mutant(files[0].read_bytes(), number) for number in range(20)}) > 15


def test_trouble_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: an exception, a refusal that is no sentence, and a file left behind are all found."""
    from traceview import store
    from traceview.errors import InputError

    def fails(error: Exception) -> object:
        def convert(*_: object) -> None:
            (tmp_path / "left").mkdir(exist_ok=True)
            raise error

        return convert

    monkeypatch.setattr(store, "convert", fails(ValueError("odd")))
    assert "ValueError: odd" in str(trouble(b"x", tmp_path))
    monkeypatch.setattr(store, "convert", fails(InputError("two\nlines")))
    assert "no sentence" in str(trouble(b"x", tmp_path))
    monkeypatch.setattr(store, "convert", fails(InputError("the trace holds something that cannot be stored (x).")))
    assert "AssertionError" in str(trouble(b"x", tmp_path))
    monkeypatch.setattr(store, "convert", fails(InputError("A sentence.")))
    assert trouble(b"x", tmp_path) == "left behind: ['left']"
