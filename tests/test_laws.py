"""The laws of the house, each a few lines: names, sizes, registries, headers, promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb
import pytest

from traceview import cli, render, sql
from traceview.analysis import advice, critical, reports
from traceview.ingest.finish import Export, finish
from traceview.ingest.sink import Sink, made
from traceview.readers import READERS
from traceview.store import graph, views
from traceview.tables import TABLES

ROOT = Path(__file__).resolve().parent.parent
QUERIES = ROOT / "queries"
REPORTS = sorted(path.parent for path in QUERIES.glob("*/report.toml"))
SECTIONS = [path for report in REPORTS for path in sorted(report.glob("*.sql"))]
COMPARED = sorted((QUERIES / "compare").glob("*.sql"))
RULES = sorted((QUERIES / "advice").glob("*.sql"))
TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A capture that holds nothing at all."""
    folder = tmp_path_factory.mktemp("empty")
    with duckdb.connect() as connection:
        connection.execute(made())
        finish(Export(Sink(connection), folder / "rank-0000"))
    opened = views.connect(folder)
    critical.prepare(opened, {})
    return opened


def test_no_line_of_sql_is_longer_than_120_characters() -> None:
    lines = {path: path.read_text(encoding="utf-8").splitlines() for path in QUERIES.rglob("*.sql")}
    assert not [path for path, text in lines.items() if any(len(line) > 120 for line in text)]


def test_no_window_counts_with_a_filter() -> None:
    """DuckDB 2.0 counts anew for each row there: 2 s for 100,000 rows, 0.03 of count(nullif(condition, false))."""
    count = re.compile(r"count\([^()]*\)\s+FILTER (\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))\s+OVER\b")
    assert [path.name for path in ROOT.glob("queries/**/*.sql") if count.search(path.read_text("utf-8"))] == []
    assert count.search("count(*) FILTER (a = 'b' OR least(c, d) > 0)\n    OVER (PARTITION BY e)")


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = re.compile(r"(^|/)(utils?|common|helpers?|core|base|misc)(\.py|/)")
    assert not [name for name in TRACKED if name.endswith(".py") and vague.search(name)]


def test_readers_are_the_folder() -> None:
    modules = {path.stem for path in (ROOT / "traceview/readers").glob("*.py")} - {"__init__"}
    assert {reader.__name__.rpartition(".")[2] for reader in READERS} == modules
    assert len({reader.NAME for reader in READERS}) == len(READERS)


def test_every_reader_says_what_it_reads() -> None:
    for reader in READERS:
        assert reader.__doc__ and reader.TITLE and reader.HOW
        assert callable(reader.sniff) and callable(reader.read)


def test_verbs_are_the_folder() -> None:
    modules = {path.stem for path in (ROOT / "traceview/cli").glob("*.py") if "\nHELP = " in path.read_text()}
    assert set(cli.VERBS) == modules


def test_no_verb_imports_a_verb() -> None:
    for path in (ROOT / "traceview/cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("traceview.cli"):
                names = {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
                assert not names & {f"traceview.cli.{verb}" for verb in cli.VERBS}, path


def imported(module: str, path: Path) -> Iterator[str]:
    """Yield what a module imports at any time, apart from types: names of modules, or of what is in them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    left_out = {id(node) for each in types for node in ast.walk(each)}
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even inside functions: who needs the other stands above it."""
    paths = {path: path.relative_to(ROOT).with_suffix("").parts for path in (ROOT / "traceview").rglob("*.py")}
    modules = {".".join(parts).removesuffix(".__init__"): path for path, parts in paths.items()}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = set(imported(module, path))
        found = {name if name in modules else name.rpartition(".")[0] for name in names}
        graph[module] = found & modules.keys() - {module}
    assert len(list(TopologicalSorter(graph).static_order())) == len(modules)


def test_output_formats_have_what_a_format_needs() -> None:
    modules = [render.renderer(name) for name in render.FORMATS]
    assert render.FORMATS[0] == render.DEFAULT and {"json", "csv", "markdown"} < {*render.FORMATS}
    assert len({module.EXTENSION for module in modules}) == len(modules)
    for module in modules:
        assert isinstance(module.FOR_PEOPLE, bool)
        assert callable(module.render) and callable(module.render_all) and callable(module.stream)


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.name)
def test_a_report_lists_its_sections(report: Path) -> None:
    facts = tomllib.loads((report / "report.toml").read_text(encoding="utf-8"))
    assert facts["title"] and facts["doc"]
    on_request = {section for sections in facts.get("options", {}).values() for section in sections}
    assert {*facts["sections"], *on_request} == {path.stem for path in report.glob("*.sql")}


@pytest.mark.parametrize("path", [*SECTIONS, *RULES], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_section_keeps_what_its_header_says(path: Path, empty: duckdb.DuckDBPyConnection) -> None:
    query = sql.load(path)
    explained = advice.COLUMNS if path in RULES else query.columns
    assert explained and not (path in RULES and query.columns), "what every rule returns is explained once"
    statement = duckdb.extract_statements(query.body)[0]
    assert set(statement.named_parameters) == set(query.params)
    assert isinstance(query.run(empty), list), "it runs on an empty capture"
    assert list(explained) == [column[0] for column in empty.description or ()]
    assert all(explained.values())
    assert re.search(r"(?im)^order by ", query.body), "rows must come in a stated order"


@pytest.mark.parametrize("path", [*SECTIONS, *COMPARED], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_people_are_shown_of_a_section_is_about_its_columns(path: Path) -> None:
    query = sql.load(path)
    look = reports.look(query.extra)
    named = {*look.headings, *look.fractions, *look.leave_out, *look.kernels, *look.rest}
    assert named <= set(query.columns), named - set(query.columns)
    shares = [name for name in query.columns if name.endswith("_pct")]
    untold = [name for name in shares if not look.lines and "of " not in look.headings.get(name, "")]
    assert not untold, "the header of a share says what it is a share of"


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_an_advice_rule_says_what_it_has_to(path: Path, empty: duckdb.DuckDBPyConnection) -> None:
    rule = sql.load(path)
    assert all(rule.extra[key].endswith(".") for key in ("why", "cost", "unless"))
    known = {key for name in advice.frameworks() for key in (name, f"{name}_cpu")} | {"any", "engine"}
    assert {"pytorch", "any"} <= set(rule.extra["fix"]) <= known
    assert rule.extra["needs"] and set(rule.extra["needs"]) <= advice.needs().keys()
    tests = (ROOT / "tests/advice" / f"test_{path.stem}.py").read_text(encoding="utf-8")
    assert all(f'"{text}"' in tests for text in (path.stem, "found", "not found", "cannot tell")), (
        "each answer is tested"
    )
    assert f"`{path.stem}`" in (ROOT / "docs/advice.md").read_text(encoding="utf-8")


def test_every_need_of_a_rule_has_one_answer_and_says_what_is_missing(empty: duckdb.DuckDBPyConnection) -> None:
    removes = (QUERIES / "advice" / "removes").glob("*.sql")
    used = {name for path in (*RULES, *removes) for name in sql.load(path).extra.get("needs", ())} | {"recording"}
    for name, need in advice.needs().items():
        assert empty.execute(f"SELECT 1 {need.holds} LIMIT 1").fetchall() == [], name
        assert 20 < len(need.missing) <= 130 and name in used


OF_A_DEVICE = {
    *("conv_shapes_or_copies", "copy_sizes", "device_size", "host_copies", "host_memory_kinds", "kernels", "launches"),
    *("memory_share", "peaks", "reserved_memory", "runtime_calls", "stream_waits"),
}
"""Needs that a capture of a CPU does not meet."""


def test_on_a_cpu_no_change_speaks_of_gpus() -> None:
    asked = [rule for rule in advice.load() if OF_A_DEVICE.isdisjoint(rule.extra["needs"])]
    assert len(asked) > 15
    for rule in asked:
        fixes = [advice.fix_of(rule, (f"{name}_cpu", name)) for name in advice.frameworks()]
        for text in (*fixes, *(rule.extra[key] for key in ("why", "cost", "unless"))):
            assert not re.search(r"(?i)\bgpu|cuda|cudnn|nvidia|nchw|tensor core", text), f"{rule.name}: {text}"


def test_a_threshold_has_one_meaning() -> None:
    meanings: dict[str, set[str]] = {}
    for path in RULES:
        for name, param in sql.load(path).params.items():
            meanings.setdefault(name, set()).add(param.doc)
    assert [name for name, docs in meanings.items() if len(docs) > 1] == []


def test_every_query_file_has_a_doc_and_no_title_that_repeats_its_name() -> None:
    for path in QUERIES.rglob("*.sql"):
        query = sql.load(path)
        assert query.doc, path
        has_title = '-- title = "' in path.read_text(encoding="utf-8")
        assert has_title or path not in {*SECTIONS, *RULES}, f"{path}: people are shown a title"
        repeats = re.sub(r"\W+", "_", query.title.lower()).strip("_") == path.stem
        assert not (has_title and repeats) or path in {*SECTIONS, *RULES, *COMPARED}, f"{path} repeats its name"
        assert len(duckdb.extract_statements(query.body)) == 1, path


def test_an_empty_capture_still_has_every_table_and_view(empty: duckdb.DuckDBPyConnection) -> None:
    for table in TABLES:
        assert empty.execute(f"SELECT count(*) FROM raw.{table.name}").fetchall() == [(0,)]
    for view in graph.names():
        assert empty.execute(f"SELECT count(*) FROM {view}").fetchall()[0][0] == 0


def test_what_runs_in_the_users_python_imports_nothing_of_ours() -> None:
    for path in [*(ROOT / "collectors").rglob("*.py"), *(ROOT / "traceview/convolution").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "traceview"], path


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys\nfrom traceview.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'duckdb', 'pyarrow', 'rich', 'pandas', 'numpy', 'prompt_toolkit'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"


@pytest.mark.parametrize("name", ["sample", pytest.param("gpu", marks=[pytest.mark.shared, pytest.mark.long])])
def test_a_report_loads_only_what_it_needs(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """All of Arrow's functions and masked arrays cost 0.1 s, as DuckDB, pandas a quarter. The second runs no rules."""
    trace, path = tmp_path / "trace.json.gz", ROOT / "samples/kineto/torch-2.13.0-alexnet-cpu.json.gz"
    if name == "gpu":
        path = request.getfixturevalue("shared") / "traces/operators/h100-bert-forward.json.gz"
    trace.write_bytes(path.read_bytes())
    heavy = {"pandas", "pyarrow.compute", "numpy.ma"}
    lean = {"numpy", "pyarrow", "traceview.analysis.advice_path"}
    first, again = ["report", str(trace)], ["sql", str(trace), "SELECT count(*) FROM ops"]
    asked = {*lean, "rich", "traceview.analysis.reports"}
    known = {*lean, "duckdb"}
    for command, others in ((first, set[str]()), (first, known), (["advise", str(trace)], known), (again, asked)):
        code = (
            "import sys\nfrom traceview.cli import main\n"
            f"main({command!r})\n"
            f"print(sorted({heavy | others!r} & set(sys.modules)), file=sys.stderr)\n"
        )
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert run.stderr.strip() == "[]"


MOST_QUERIES = 250
"""Queries of a first report, reading the trace and storing what was made included: each takes 1 to 10 ms to plan."""


def test_a_first_report_takes_few_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace.json.gz"
    trace.write_bytes((ROOT / "samples/kineto/torch-2.13.0-lenet-cpu.json.gz").read_bytes())
    asked: list[str] = []

    class Counted:
        def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
            self.connection = connection

        def execute(self, query: object, *values: object, **options: object) -> Counted:
            asked.append(str(query))
            self.connection.execute(query, *values, **options)  # type: ignore[call-overload]
            return self

        def sql(self, query: str) -> duckdb.DuckDBPyRelation:
            asked.append(query)
            return self.connection.sql(query)

        def cursor(self) -> Counted:
            return Counted(self.connection.cursor())

        def __enter__(self) -> Counted:
            return self

        def __exit__(self, *_error: object) -> None:
            self.connection.close()

        def __getattr__(self, name: str) -> object:
            return getattr(self.connection, name)

    connect = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda *given, **options: Counted(connect(*given, **options)))
    assert cli.main(["report", str(trace)]) == 0
    assert 100 < len(asked) <= MOST_QUERIES, len(asked)


def test_every_module_says_what_it_is_for() -> None:
    for path in [*(ROOT / "traceview").rglob("*.py"), *(ROOT / "collectors").rglob("*.py")]:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_the_readme_is_short_and_names_every_verb() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 200
    for verb in cli.VERBS:
        assert f"traceview {verb}" in readme, verb


def test_pages_name_every_report_and_rule_and_none_that_is_gone() -> None:
    """The table of reports in docs/reports.md, and the tables of docs/advice.md, have exactly those that there are."""
    for page, known in (("reports", REPORTS), ("advice", RULES)):
        text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
        rows = re.findall(r"(?m)^\| *(?:report|problem|rule)[^\n]*\|\n\|[-|]+\n((?:\|.*\n)+)", text)
        names = set(re.findall(r"`([a-z0-9_]+)`", "".join(rows)))
        assert {path.stem for path in known} <= names, page


def test_supported_pythons_are_the_same_everywhere() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    project, tool = settings["project"], settings["tool"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    first, last = named[0], named[-1]
    assert named == [f"3.{minor}" for minor in range(int(first[2:]), int(last[2:]) + 1)]
    # An upper end would lock people out for a year after each new Python.
    assert project["requires-python"] == f">={first}"
    assert tool["ruff"]["target-version"] == f"py{first.replace('.', '')}"
    assert tool["mypy"]["python_version"] == first
    assert f"Python {first} to {last}," in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {first}+" in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()[0]


def test_every_verb_has_help_with_examples() -> None:
    parser = cli.build_parser()
    verbs = parser._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    for verb in cli.VERBS:
        assert f"traceview {verb}" in verbs[verb].format_help()  # type: ignore[index]


@pytest.mark.long
def test_a_wheel_holds_every_query_rule_and_collector(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
    folders = ("queries", "collectors", "samples/training", "samples/legacy")
    content = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    expected = {f"traceview/{path.relative_to(ROOT)}" for path in content if "__pycache__" not in path.parts}
    expected |= {str(path.relative_to(ROOT)) for path in (ROOT / "traceview").rglob("*.toml")}
    expected |= {"traceview/py.typed", "traceview/samples/environments.py", "traceview/samples/environments.toml"}
    assert expected <= held


def test_a_view_has_the_columns_its_header_explains(empty: duckdb.DuckDBPyConnection) -> None:
    for view in graph.names():
        columns = {row[0] for row in empty.execute(f"DESCRIBE {view}").fetchall()}
        explained = set(sql.load(QUERIES / "views" / f"{view}.sql").columns)
        assert explained <= columns, (view, explained - columns)


ABOUT_FACTS = re.compile(r"(?is)\b(select|update|delete)\b.*\b(where|join|group by|having|union)\b")
NOT_ABOUT_FACTS = re.compile(r"duckdb_\w+\(\)|traceview sql ")
"""The catalogue of DuckDB, and examples in a help text."""
ASSEMBLED = {
    "traceview/decode/sqlite.py": "for SQLite, over tables of other tools",
    "traceview/ingest/sink.py": "the same for every table, out of tables.py",
    "traceview/ingest/derive/steps.py": "around a query, over a table whose name depends on what was spilled",
}


def test_queries_stand_in_files_of_their_own() -> None:
    """Python may fill and name tables; what a query says of the facts stands in `queries`, with a header."""
    found = []
    for path in (ROOT / "traceview").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node] if isinstance(node, ast.Constant) else []
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)
            if id(node) not in docs and ABOUT_FACTS.search(text) and not NOT_ABOUT_FACTS.search(text):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {text[:100]}")
    assert [line for line in found if line.split(":")[0] not in ASSEMBLED] == []
    assert {line.split(":")[0] for line in found} >= ASSEMBLED.keys(), "an exception that is none any more"


def test_files_that_a_page_names_are_there() -> None:
    """By their path from the top, or as they are called below `traceview`; a name alone may lie anywhere."""
    by_name = {Path(name).name for name in TRACKED}
    for page in (*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        text = page.read_text(encoding="utf-8")
        for named in set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|sql|toml|csv|md))`", text)):
            places = [ROOT / named, ROOT / "traceview" / named]
            found = any(place.exists() for place in places) or ("/" not in named and named in by_name)
            assert found, f"{page.name} names {named}"


def test_names_in_code_are_those_of_the_field() -> None:
    """Materialized, deferred, spilled, columns asked for, the process of a row: each has one word, and not these."""
    vague = re.compile(r"(^|_)(kept|owners?|odd|waiting|wanted|sparing|crew)($|_)", re.IGNORECASE)
    allowed = {"n_kept", "is_kept"}  # A column of `captures`, and whether files stay.
    for path in (ROOT / "traceview").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "name", None)
            found = vague.search(name) if isinstance(name, str) else None
            assert not found or name in allowed, f"{path.relative_to(ROOT)}: {name}"


HALF_A_SENTENCE = re.compile(r"\s*(What|Of|Where|The same)\b")


def test_docstrings_name_what_they_describe() -> None:
    """Also those below constants and fields: a verb for a function, a noun for data, never half a sentence."""
    for name in (name for name in TRACKED if name.endswith(".py")):
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            text = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
            assert not (isinstance(text, str) and HALF_A_SENTENCE.match(text)), f"{name}:{node.lineno}: {text}"


def test_headers_of_queries_and_reports_name_what_they_describe() -> None:
    """A `title` is a heading and may be a question; texts on columns and parameters follow the rule as well."""
    texts: dict[str, list[str]] = {}
    for path in QUERIES.rglob("*.sql"):
        query = sql.load(path)
        texts[str(path)] = [query.doc, *query.columns.values(), *(param.doc for param in query.params.values())]
    for report in REPORTS:
        path = report / "report.toml"
        texts[str(path)] = [tomllib.loads(path.read_text(encoding="utf-8"))["doc"]]
    found = {name: text for name, said in texts.items() for text in said if HALF_A_SENTENCE.match(text)}
    assert not found
