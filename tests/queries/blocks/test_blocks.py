"""Blocks of memory over time and address: which, when and where."""

from __future__ import annotations

from pathlib import Path

from given import Given, pick, section
from memories import allocated, trained


def placed() -> Given:
    """Two steps of 100 us; the peak is in the second. Addresses are two pieces far apart."""
    given = trained()
    given.device("V100", memory_bytes=100_000)
    wide = 64 << 20
    allocated(given, None, None, size_bytes=1000, address=4096, device=0, how="noted", kind="parameter", label="w")
    allocated(given, 5, 95, size_bytes=100, address=8192, device=0)
    allocated(given, 121.5, 166, size_bytes=2000, address=wide, device=0)
    allocated(given, 185, None, size_bytes=24, address=wide + 4096, device=0)
    allocated(given, None, None, size_bytes=700, address=None, device=0, how="before")
    allocated(given, 122, 124, size_bytes=50, address=77, device=None)
    return given


def test_blocks_of_the_step_of_the_peak(tmp_path: Path) -> None:
    found = section(placed().open(tmp_path), "blocks/blocks")
    columns = ("kind", "owner", "from_ns", "until_ns", "address", "place_bytes", "size_bytes")
    far = 1000 + (1 << 20)
    assert pick(found, *columns) == [
        ("activation", "net.fc", 121_500, 166_000, 64 << 20, far, 2000),
        ("optimizer_state", "aten::add_", 185_000, 200_000, (64 << 20) + 4096, far + 4096, 24),
        ("parameter", "w", 100_000, 200_000, 4096, 0, 1000),
    ]


def test_the_largest_alone(tmp_path: Path) -> None:
    found = section(placed().open(tmp_path), "blocks/blocks", most="1")
    assert pick(found, "owner", "place_bytes") == [("w", 0)]


def test_without_addresses_there_is_nothing(tmp_path: Path) -> None:
    given = trained()
    allocated(given, 5, 95, address=None)
    assert section(given.open(tmp_path), "blocks/blocks") == []
