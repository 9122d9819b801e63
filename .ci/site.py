"""Builds the site (`make site`): docs/, the README as its start, references from help and lists, and a man page.

    python .ci/site.py FOLDER

Search needs no network. Names of other pages become links; a link that leads nowhere fails the build.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PARTS = {
    "Look at a trace": "tutorial howto reports advice memory compare critical ranks fleet ci python agents",
    "Record and try": "collect privacy options tune schedule scaling",
    "Measure": "study frameworks samples seeds",
    "Know": "convolution vocabulary limits performance accuracy",
    "Reference": "command-line verbs lists tables",
}
"""Pages by what one comes for."""
LISTS = ("formats", "reports", "advice", "options", "networks", "categories", "collectors")
SETTINGS = """project = "traceview"
extensions = ["myst_parser"]
html_theme = "furo"
html_copy_source = False
myst_heading_anchors = 3
# Blocks that tests read by a name of their own, and tables whose headings begin at the third level.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
man_pages = [("verbs", "traceview", "where a training step goes, and which option would give it back", [], 1)]
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every page of the site by its name."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    found["verbs"] = _verbs()
    lists = [f"## {name.capitalize()}\n\n{_printed('list', name, '--format', 'markdown')}" for name in LISTS]
    found["lists"] = "\n\n".join(["# Lists", *lists])
    found["tables"] = f"# Tables of sql\n\n{_printed('list', 'tables', '--format', 'markdown')}"
    found["index"] = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](") + _contents()
    return {name: re.sub(r"`docs/([\w-]+)\.md`", r"[\1](\1.md)", text) for name, text in found.items()}


def _contents() -> str:
    """Return the list of pages that stands beside each of them."""
    head = "\n```{{toctree}}\n:caption: {}\n:hidden:\n\n{}\n```\n"
    return "".join(head.format(part, names.replace(" ", "\n")) for part, names in PARTS.items())


def _verbs() -> str:
    """Return the help of every verb, and of what it has below it."""
    from traceview import cli

    names = [[verb] for verb in cli.VERBS]
    names += [["study", name] for name in ("algorithms", "frameworks", "scaling", "import")]
    parts = [f"## traceview {' '.join(words)}\n\n```text\n{_printed('help', *words)}\n```" for words in names]
    return "\n\n".join(["# Verbs", *parts])


def _printed(*words: str) -> str:
    """Return the output of traceview for these words."""
    command = [sys.executable, "-m", "traceview", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


def build(target: Path) -> None:
    """Write the sources of the site and build it; what Sphinx warns of is an error."""
    source = target / "source"
    shutil.rmtree(target, ignore_errors=True)
    source.mkdir(parents=True)
    (source / "conf.py").write_text(SETTINGS)
    shutil.copyfile(DOCS / "page.png", source / "page.png")
    for name, text in pages().items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", target / "doctrees"]
    for kind in ("html", "man"):
        subprocess.run([*command, "-b", kind, source, target / kind], check=True)
    if broken := broken_links(target / "html"):
        sys.exit("\n".join(broken))


def broken_links(folder: Path) -> list[str]:
    """Return the links of built pages that lead to no file of the site, or to no place of its page."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    places = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in texts.items()}
    found = []
    for name, text in texts.items():
        for link in re.findall(r'\b(?:href|src)="(?![a-z]+:)([^"]+)"', text):
            file, _, place = unquote(html.unescape(link)).partition("#")
            file = file.partition("?")[0] or name
            if not (folder / file).exists() or place not in {"", *places.get(file, {place})}:
                found.append(f"{name}: {link}")
    return found


if __name__ == "__main__":
    build(Path(sys.argv[1]))
