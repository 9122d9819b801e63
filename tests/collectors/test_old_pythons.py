"""Collectors of old frameworks are valid for Python 3.6: their syntax, and what they use of the library."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLLECTORS = ROOT / "collectors"
# Frameworks that run on new Pythons alone; and what traceview's own Python runs before the program begins.
MODERN = ("torch_", "tensorflow_", "jax_", "xplane", "keras_", "onnxruntime_", "nvtx_", "options_")
FILES = sorted(path for path in COLLECTORS.rglob("*.py") if not path.name.startswith(MODERN))
# Imported modules and attributes that came later, with the Python that brought them; the list grows with the need.
NEWER = {
    "dataclasses": "3.7", "contextvars": "3.7", "annotations": "3.7", "perf_counter_ns": "3.7", "time_ns": "3.7",
    "monotonic_ns": "3.7", "nullcontext": "3.7", "register_at_fork": "3.7", "fromisoformat": "3.7", "isascii": "3.7",
    "capture_output": "3.7", "text": "3.7", "breakpoint": "3.7",
    "prod": "3.8", "dist": "3.8", "isqrt": "3.8", "addaudithook": "3.8", "audit": "3.8", "parent_process": "3.8",
    "missing_ok": "3.8", "dirs_exist_ok": "3.8", "get_native_id": "3.8", "cached_property": "3.8", "fmean": "3.8",
    "quantiles": "3.8", "metadata": "3.8", "excepthook": "3.8", "unraisablehook": "3.8",
    "removeprefix": "3.9", "removesuffix": "3.9", "cache": "3.9", "is_relative_to": "3.9", "with_stem": "3.9",
    "pairwise": "3.10", "strict": "3.10", "packages_distributions": "3.10", "tomllib": "3.11",
}  # fmt: skip
# A name that is asked for with `hasattr` first may be used.
GUARDED = {"sitecustomize.py": set(), "python.py": {"register_at_fork", "parent_process"}}
GUARDED["recorder.py"] = {"addaudithook"}


def newer(tree: ast.AST) -> set[str]:
    """The names of the list above that a module uses: attributes, imports and keywords of calls."""
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            used |= {node.module or "", *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.keyword):
            used.add(node.arg or "")
    return used & set(NEWER)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_valid_for_the_oldest_python(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    assert newer(tree) <= GUARDED.get(path.name, set())


def test_the_check_sees_what_is_newer() -> None:
    code = "from dataclasses import dataclass\nmath.prod(zip(a, b, strict=True))\npath.unlink(missing_ok=True)"
    assert newer(ast.parse(code)) == {"dataclasses", "prod", "strict", "missing_ok"}
    with pytest.raises(SyntaxError):
        ast.parse("if (n := 1): pass", feature_version=(3, 6))


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8"])
def test_an_old_interpreter_compiles_and_loads_them(version: str, tmp_path: Path) -> None:
    """The shared modules run there, and a program without framework is left alone, as far as an interpreter is here."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on the PATH or in pyenv")
    environment = {"TRACEVIEW_DIR": str(tmp_path), "PYTHONPATH": str(COLLECTORS / "inject"), "HOME": str(Path.home())}
    code = (
        f"import sys; sys.path.append({str(COLLECTORS / 'inject')!r}); sys.dont_write_bytecode = True\n"
        f"for path in {[str(path) for path in FILES]!r}: compile(open(path, encoding='utf-8').read(), path, 'exec')\n"
        "from traceview_inject import onednn, model, recorder as recording\n"
        "recorder = recording.Recorder('some', None, None)\n"
        "recording.PROCESS.follow(recorder)\n"
        "recorder.begin(); recorder.step_ended('forward', recorder)\n"
        "import os\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(len(recorder.steps.ends))\n"
        "print(os.waitpid(child, 0)[1], recorder.steps.cost(3, 4, 0)['bare_steps'], len(recorder.steps.ends))"
    )
    done = subprocess.run([python, "-B", "-c", code], env=environment, capture_output=True, text=True)
    # The child's steps are its own: it has none.
    assert (done.stdout, done.stderr) == ("0 0 1\n", "")
    notes = sorted(note.read_text() for note in (tmp_path / "raw").glob(".process-*.txt"))
    assert notes == ["framework\n\n", "waiting\n1 forward\n"]


def interpreter(version: str) -> str | None:
    """An interpreter of that version that runs."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for found in filter(None, [shutil.which(f"python{version}"), *map(str, pyenv.glob(f"{version}.*/bin/python"))]):
        if subprocess.run([found, "-c", ""], capture_output=True).returncode == 0:
            return found
    return None
