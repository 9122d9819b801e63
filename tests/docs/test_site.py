"""The site has every page of docs/, and names of pages become links to pages that there are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def site(root: Path) -> dict[str, object]:
    return runpy.run_path(str(root / ".ci/site.py"))


def test_every_page_has_its_place(site: dict[str, object], root: Path) -> None:
    parts: dict[str, str] = site["PARTS"]  # type: ignore[assignment]
    named = " ".join(parts.values()).split()
    assert sorted(named) == sorted([path.stem for path in root.glob("docs/*.md")] + ["lists", "tables", "verbs"])


@pytest.mark.long
def test_links_lead_to_pages(site: dict[str, object]) -> None:
    pages: dict[str, str] = site["pages"]()  # type: ignore[operator]
    links = {name: re.findall(r"\]\(([\w-]+)\.md\)", text) for name, text in pages.items()}
    assert "advice" in links["index"] and set().union(*links.values()) <= pages.keys()
    assert "## traceview study scaling" in pages["verbs"] and "| kernels |" in pages["tables"]


def test_links_that_lead_nowhere_are_found(site: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">1</a><a href="#here">2</a><a href="mailto:x">3</a><img src="b.html?1">'
        '<a href="c.html">4</a><a href="b.html#gone">5</a><a href="#gone">6</a><script src="_static/no.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">')
    found: list[str] = site["broken_links"](tmp_path)  # type: ignore[operator]
    assert found == [f"a.html: {link}" for link in ("c.html", "b.html#gone", "#gone", "_static/no.js")]
