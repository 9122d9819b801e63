"""Says whether what became of a damaged trace is allowed: a whole capture, or a refusal in one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import traceback
from pathlib import Path

import duckdb

from traceview import cli, store
from traceview.analysis import findings, reports
from traceview.decode.files import files_in
from traceview.errors import InputError, TraceviewError
from traceview.render import renderer
from traceview.store import views


def trouble(data: bytes, folder: Path, reports_too: bool = True) -> str | None:
    """Convert damaged bytes in an empty folder; what must not happen, in words, or None when all is as promised.

    Point TMPDIR (and `tempfile.tempdir`) into `folder` to have files left there noticed too.
    """
    trace = folder / "trace"
    trace.write_bytes(data)
    try:
        made = _convert(trace, folder / "capture", reports_too)
    except Exception:
        shutil.rmtree(folder / "capture", ignore_errors=True)
        return traceback.format_exc()
    left = {path.name for path in folder.iterdir()} - {"trace", "tmp"} - ({"capture"} if made else set())
    left |= {path.name for path in files_in(folder / "tmp")} if (folder / "tmp").exists() else set()
    for name in ("capture", *left):
        shutil.rmtree(folder / name, ignore_errors=True)
    return f"left behind: {sorted(left)}" if left else None


def _convert(trace: Path, target: Path, reports_too: bool) -> bool:
    try:
        store.convert([trace], target)
    except InputError as error:
        _check_sentence(str(error))
        # One value that does not fit must not cost the whole trace.
        assert "cannot be stored" not in str(error), str(error)
        return False
    _check_rows(target)
    if reports_too:
        _check_reports(target)
    return True


def _check_reports(target: Path) -> None:
    try:
        connection = views.connect(target)
        try:
            overview = reports.run(connection, "overview", best=findings.best)
            for form in ("table", "json", "csv", "markdown"):
                renderer(form).render(overview).encode()
        finally:
            connection.close()
    except TraceviewError as error:
        raise AssertionError(f"a capture that was just written cannot be used: {error}") from error


def _check_rows(target: Path) -> None:
    """Check the rows of any capture: spans do not end before they start, ids are unique."""
    tables = ("kernels", "memcpys", "primitives", "ops", "ranges", "api_calls")
    queries = [
        f"SELECT '{table}', count(*) FILTER (dur_ns < 0), count(*) - count(DISTINCT id) FROM read_parquet($folder || "
        f"'/rank-*/{table}.parquet')"
        for table in tables
    ]
    with duckdb.connect() as connection:
        found = connection.execute(" UNION ALL ".join(queries), {"folder": str(target)}).fetchall()
    wrong = [row for row in found if row[1:] != (0, 0)]
    assert len(found) == len(tables) and not wrong, f"{wrong}: negative durations, ids that are not unique"


def _check_sentence(text: str) -> None:
    assert len(text) < 1000 and text.rstrip().endswith(".") and "\n" not in text, f"no sentence: {text!r}"
    assert "Traceback" not in text and os.sep + "site-packages" not in text, text


def capture_trouble(capture: Path) -> str | None:
    """Report, advise and ask a capture that may be damaged; what must not happen, in words, or None."""
    for verb, *rest in (("report",), ("sql", "SELECT count(*) FROM kernels"), ("advise",)):
        out, said = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
                code = cli.main([verb, str(capture), *rest])
        except SystemExit as error:
            code = int(error.code or 0)
        except Exception:
            return f"{verb}: {traceback.format_exc()}"
        # What was said before an error, of damage that could be mended, are lines of their own.
        sentence = said.getvalue().strip().rpartition("\n")[2]
        if code not in (0, 3) or (code == 3 and not sentence.endswith(".")):
            return f"{verb}: exit code {code}: {said.getvalue()}"
        if any(word in said.getvalue() for word in ("Traceback", "unexpected", "fault of traceview", "site-packages")):
            return f"{verb}: {said.getvalue()}"
    return None
