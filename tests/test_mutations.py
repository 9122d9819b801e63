"""Whatever is wrong with a file, the answer is a whole capture or one sentence, and nothing is left behind.

The damage follows from its number, so a failure repeats; `make fuzz` does the same for as long as one likes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from mutations import SAMPLES, mutant, originals, trouble

N_MUTATIONS = 150
N_GROUPS = 10
REPORTS_EVERY = 23
FILES = originals(SAMPLES)


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_damage_is_a_capture_or_a_sentence(group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for number in range(group, N_MUTATIONS, N_GROUPS):
        path = FILES[number % len(FILES)]
        found = trouble(mutant(path.read_bytes(), number), tmp_path, number % REPORTS_EVERY == 0)
        assert found is None, f"mutation {number} of {path.name}:\n{found}"


def test_a_mutation_follows_from_its_number() -> None:
    data = FILES[0].read_bytes()
    assert mutant(data, 7) == mutant(data, 7) != mutant(data, 8)


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
    monkeypatch.setattr(store, "convert", fails(InputError("A sentence.")))
    assert trouble(b"x", tmp_path) == "left behind: ['left']"
