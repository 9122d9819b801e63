"""Whatever is wrong with a file, the answer is a whole capture or one sentence, and nothing is left behind.

The damage follows from its number, so a failure repeats; `make fuzz` does the same for as long as one likes, and
TRACEVIEW_MUTATIONS=10000 for that many.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from capture_mutations import mutate_capture
from event_mutations import mutated_events
from mutations import SAMPLES, mutant, originals
from promises import capture_trouble, trouble
from seeds import seeds

from traceview import cli, store
from traceview.decode.files import peek
from traceview.readers import READERS, detect

pytestmark = pytest.mark.long

N_MUTATIONS = int(os.environ.get("TRACEVIEW_MUTATIONS", 80))
N_CAPTURES = N_MUTATIONS // 10
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


def test_what_other_tests_left_is_not_damaged(tmp_path: Path) -> None:
    for name in ("kineto/a.json", "kineto/a.json.traceview/converted.json", "training/__pycache__/a.cpython-311.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert originals(tmp_path) == [tmp_path / "kineto/a.json"]


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


def test_a_damaged_capture_is_read_or_refused_in_a_sentence(
    files: Sequence[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    whole, capture = tmp_path / "whole", tmp_path / "capture"
    store.convert([next(path for path in files if path.name == "kineto-gpu.json")], whole)
    for number in range(N_CAPTURES):
        shutil.rmtree(capture, ignore_errors=True)
        shutil.copytree(whole, capture)
        # What is materialized of the whole one is damaged or left over.
        assert number or capture_trouble(capture) is None
        how = mutate_capture(capture, tmp_path / "cache", number)
        found = capture_trouble(capture)
        assert found is None, f"mutation {number}, {how}:\n{found}"


def test_trouble_with_a_capture_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "capture").mkdir()
    assert capture_trouble(tmp_path / "capture") is None, "refused in a sentence"

    def fails(_: object) -> int:
        raise ValueError("odd")

    for main, word in ((fails, "ValueError: odd"), (lambda _: 4, "exit code 4"), (lambda _: 3, "exit code 3")):
        monkeypatch.setattr(cli, "main", main)
        assert word in str(capture_trouble(tmp_path / "capture"))


def test_a_mutation_follows_from_its_number(files: Sequence[Path]) -> None:
    for path in files:
        data = path.read_bytes()
        assert mutant(data, 7) == mutant(data, 7)
    assert len({mutant(files[0].read_bytes(), number) for number in range(20)}) > 15


def test_trouble_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself: an exception, a refusal that is not a sentence, and a file left behind are all found."""
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


def test_events_change_and_stay_events(files: Sequence[Path]) -> None:
    """Each way of changing events leaves a file that is converted, or refused in a sentence (see above), as events."""
    kineto = next(path for path in files if path.name == "kineto-gpu.json").read_bytes()
    changed = [mutated_events(kineto, random.Random(number)) for number in range(60)]
    assert len(set(changed)) > 50
    assert all(found and b'"traceEvents"' in found and b"@raw-" not in found for found in changed)
    assert mutated_events(b"[1, 2", random.Random(0)) is None
