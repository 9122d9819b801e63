"""Text of a trace is shown and never obeyed: every verb and report in every format, on the real command line.

Captures of several formats are made hostile as a whole: every text that a profiler recorded begins like a formula and
ends in terminal sequences, markup, SQL and line breaks, and so do the names of the files. What comes out is then read
as a terminal, a spreadsheet, a browser and a program would read it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from cases import first
from markdown_it import MarkdownIt
from seeds import seeds

from traceview import cli, store
from traceview.analysis import critical, findings, reports
from traceview.analysis.model import Report
from traceview.render import renderer
from traceview.render.characters import DEFAULT_IGNORABLE
from traceview.render.notebook import Answer

pytestmark = pytest.mark.slow

HEADS = ("=1+1 ", "@SUM(A1) ", "\t=1 ", "-1 ", "\uff0b1 ", "")
TAIL = (
    "\x1b[31m\x1b]0;t\x07\r\n# section: forged\n| `x` |\u202e\u2066\u200b[red]x[/] [l](http://evil) ![i](http://evil/x)"
    "\u3164\u00a0\U000e0100; =2+2</script><script>alert(1)</script><img src=x>'; DROP TABLE kernels; --\"\\ $(id)"
    " https://evil @one :smile: \x9b2J"
)
OWN = frozenset(
    ("format", "direction", "src_kind", "dst_kind", "op_link", "phase", "kind", "clock", "peaks_from", "hlo_kind")
)
"""Columns whose words are traceview's own."""
JSON = frozenset(
    ("metadata", "options", "process_groups", "shapes", "strides", "types", "inputs", "output_shapes", "args")
)
NAME = "\x1b[31m|\n`\u202e\u3164\u034f<b>[red]'*?"
"""Name of files and captures."""
ROWS = 12
"""Rows of a section that are looked at."""


def make_hostile(capture: Path) -> None:
    """Spoil every recorded text of a capture. JSON stays JSON, as readers write it."""
    for file in sorted(capture.glob("rank-*/*.parquet")):
        if not pq.read_metadata(file).num_rows:
            continue
        with duckdb.connect() as connection:
            described = connection.execute("DESCRIBE FROM read_parquet($1)", [str(file)]).fetchall()
            names = [name for name, kind, *_ in described if kind == "VARCHAR" and name not in OWN | JSON]
            lists = [name for name, kind, *_ in described if kind == "VARCHAR[]"]
            head = "$heads[(1 + hash({0}) % len($heads))::BIGINT]"
            spoiled = [f"{head.format(name)} || {name} || $tail AS {name}" for name in names]
            spoiled += [f"list_transform({name}, lambda x: $heads[1] || x || $tail) AS {name}" for name in lists]
            if not spoiled:
                continue
            connection.execute("CREATE TABLE rows AS FROM read_parquet($1)", [str(file)])
            query = f"CREATE TABLE spoiled AS SELECT * REPLACE ({', '.join(spoiled)}) FROM rows"
            connection.execute(query, {"heads": list(HEADS), "tail": TAIL})
            connection.execute("COPY spoiled TO $1 (FORMAT parquet)", [str(file)])
    key = json.loads((capture / store.KEY_FILE).read_text())
    (capture / store.KEY_FILE).write_text(json.dumps({**key, "sums": {}}))


TRACES = ("kineto-gpu", "nsys-0", "onednn", "nvprof_text-3", "ddp", "cntk")
"""Traces of formats that between them fill every table."""


@pytest.fixture(scope="module")
def hostile(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`hostile(trace)`: its capture, with names that act where they are obeyed."""
    place = tmp_path_factory.mktemp("hostile")
    traces = {path.name.split(".")[0]: path for path in seeds(tmp_path_factory.mktemp("seeds"))}
    samples = {
        **traces,
        "ddp": root / "samples/kineto/torch-2.13.0-lenet-ddp-cpu",
        "cntk": root / "samples/cntk_timing/cntk-2.7-lenet-cpu.txt.gz",
        "onednn": root / "samples/onednn/onednn-3.12.0-lenet-cpu.log.gz",
    }

    @cache
    def made(trace: str) -> Path:
        plain = store.convert([samples[trace]], place / trace)
        make_hostile(plain)
        return plain.rename(place / f"=1+{trace}{NAME}")

    return made


def run(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """Return what a command line prints on stdout; its stderr may hold sentences that do not act."""
    code = cli.main(list(map(str, args)))
    captured = capsys.readouterr()
    assert code == 0, f"{args}: {captured.err}"
    assert not acts_in_a_terminal(captured.err) and "bug in traceview" not in captured.err
    return captured.out


def acts_in_a_terminal(text: str) -> list[str]:
    ignorable = re.compile(f"[{DEFAULT_IGNORABLE}]")
    return [char for char in text.replace("\n", "") if not char.isprintable() or ignorable.match(char)]


def check_table(text: str) -> None:
    assert not acts_in_a_terminal(text)
    assert not any(line.startswith("# section: forged") for line in text.splitlines())


def check_csv(text: str) -> None:
    assert not acts_in_a_terminal(text)
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            for part in re.split(r"[;|]", cell):
                begins = unicodedata.normalize("NFKC", part.lstrip(' "'))[:1]
                assert begins not in FORMULA or re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", part), cell
        assert row[:1] != ["# section: forged"]


def check_json(text: str) -> None:
    json.loads(text)
    assert text.isascii() and not acts_in_a_terminal(text)


FORMULA = set("=+-@\u2212")
ALLOWED = {"h2", "h3", "p", "ul", "li", "em", "table", "thead", "tbody", "tr", "th", "td", "code"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


def check_markdown(text: str) -> None:
    """As GitHub would show it: no tag but those of our own headings, tables and notes."""
    assert not acts_in_a_terminal(text)
    tags = _Tags()
    tags.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    assert tags.found <= ALLOWED, tags.found - ALLOWED
    for block in re.split(r"\n\n", text):
        if block.startswith("| "):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def check_notebook(text: str) -> None:
    """A browser finds a table and nothing that acts in it, and MathJax is told to leave it alone."""
    assert not acts_in_a_terminal(text) and text.startswith('<div class="tex2jax_ignore mathjax_ignore">')
    tags = _Tags()
    tags.feed(text)
    assert tags.found <= {*ALLOWED, "div", "h4", "small", "br"} and tags.attributes <= {"class", "style", "title"}


CHECKS = {"table": check_table, "csv": check_csv, "json": check_json, "markdown": check_markdown}


def asked(connection: duckdb.DuckDBPyConnection, name: str) -> Report:
    """A report without its footer, which is the same under all."""
    recipe = reports.load(name)
    if recipe.is_prepared:
        critical.prepare(connection, {})
    sections = tuple(reports.section(connection, query) for query in recipe.sections)
    return reports.cut(Report(name, recipe.title, recipe.doc, sections, ()), ROWS, reports.cut_section)


@pytest.mark.parametrize("trace", first(1, TRACES))
def test_every_report_and_rule(hostile: Callable[[str], Path], trace: str) -> None:
    """Queries run once for all formats of the command line: most of the time goes into them."""
    with store.open_capture(hostile(trace)) as connection:
        done = [asked(connection, name) for name in reports.names()]
        found = findings.run(connection, at_least_pct=0.0)
    answers = {True: findings.for_people(found, True), False: findings.exact(found)}
    for form, check in CHECKS.items():
        writer = renderer(form)
        check(writer.render_all([*done, answers[writer.FOR_PEOPLE]]))
    for report in (*done, answers[True]):
        check_notebook(Answer(report)._repr_html_())


@pytest.mark.parametrize("form", first(1, ["csv", "table", "json", "markdown"]))
def test_verbs(hostile: Callable[[str], Path], capsys: pytest.CaptureFixture[str], form: str) -> None:
    check, capture, other = CHECKS[form], hostile(TRACES[0]), hostile(TRACES[1])
    check(run(capsys, "report", capture, "overview", "conv", "quality", "--format", form, "--limit", ROWS))
    check(run(capsys, "advise", capture, "--evidence", "--at-least", "0%", "--format", form))
    check(run(capsys, "compare", capture, other, "--format", form, "--limit", ROWS))
    check(run(capsys, "sql", capture, "FROM ops, captures", "--format", form))
    check(run(capsys, "sql", capture, f'SELECT 1 AS "{HEADS[0]}{TAIL.replace(chr(34), "")}"', "--format", form))
    check(run(capsys, "sql", capture, ".schema kernels", "--format", form))
    check(run(capsys, "list", "categories", "--unmatched", capture, "--format", form))
    if form != "markdown":
        check(run(capsys, "classify", *(f"{head}{TAIL}" for head in HEADS if head[:1] != "-"), "--format", form))


def test_names_of_files(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / f"=t{NAME}.gz"
    shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", trace)
    assert '"source": "=t' in run(capsys, "sql", trace, "SELECT source FROM captures", "--format", "json")
    assert run(capsys, "report", trace, "quality")
    for verb in ("report", "advise", "sql", "compare"):
        second = ["x"] if verb in ("sql", "compare") else []
        assert "no file matches " in refused(capsys, verb, tmp_path / f"none{NAME}", *second)
    (tmp_path / f"text{NAME}").write_text("no trace")
    assert "is not a recognised trace format" in refused(capsys, "report", tmp_path / f"text{NAME}")
    damaged = next(tmp_path.glob("=t*.traceview"))
    for file in damaged.glob("rank-0000/ops.parquet"):
        file.write_bytes(b"no table")
    assert "is damaged" in refused(capsys, "report", damaged)
    no_text = Path(os.fsdecode(bytes(tmp_path) + b"/\xff\x1b.json"))
    shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", no_text)
    assert "is not UTF-8 text" in refused(capsys, "report", no_text)
    assert "is not UTF-8 text" in refused(capsys, "convert", trace, "-o", f"{no_text}.out")
    assert "is not UTF-8 text" in refused(capsys, "report", tmp_path)
    (tmp_path / "link").symlink_to(no_text)
    assert "is not UTF-8 text" in refused(capsys, "report", tmp_path / "link")


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "TMPDIR"])
def test_a_folder_for_what_is_worked_out_need_not_be_text(variable: str, root: Path, tmp_path: Path) -> None:
    """Another one is taken, or nothing is stored."""
    odd = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    trace = shutil.copy(root / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz", tmp_path)
    command = [sys.executable, "-m", "traceview", "report", trace]
    done = subprocess.run(command, env={**os.environ, variable: str(odd)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and "Step" in done.stdout


def refused(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """The sentence with which a command line ends."""
    assert cli.main(list(map(str, args))) == 3
    captured = capsys.readouterr()
    assert captured.out == "" and not acts_in_a_terminal(captured.err) and "fault of" not in captured.err
    return captured.err.strip()
