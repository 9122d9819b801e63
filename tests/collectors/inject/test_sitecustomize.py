"""The injected folder: it chains, it steps aside, and it watches for a framework without importing anything."""

from __future__ import annotations

import os
import subprocess
import sys

BASE = {key: value for key, value in os.environ.items() if not key.startswith(("TRACEVIEW_", "PYTHONPATH"))}


def python(code, folder, **environment):
    """Return the output of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=BASE | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_hidden_sitecustomize_still_runs(tmp_path, inject):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text("import sys; sys.theirs = __file__")
    path = os.pathsep.join([str(inject), str(tmp_path / "theirs")])
    code = "import sys, sitecustomize; print(sys.theirs == sitecustomize.__file__)"
    assert python(code, tmp_path, PYTHONPATH=path, TRACEVIEW_DIR="capture") == "True\n"


def test_path_and_modules_of_a_program_without_framework_are_the_same(tmp_path, inject):
    code = "import sys; print(sys.path); print(sorted(set(sys.modules) - {'sitecustomize'}))"
    bare = python(code, tmp_path)
    assert python(code, tmp_path, PYTHONPATH=str(inject)) == bare
    seen = python(code, tmp_path, PYTHONPATH=str(inject), TRACEVIEW_DIR="capture")
    assert seen == bare
    notes = list((tmp_path / "capture" / "raw").iterdir())
    assert [note.read_text() for note in notes] == ["python\n\n"]


def test_asking_whether_a_framework_is_there_does_not_count_as_importing_it(tmp_path, inject):
    (tmp_path / "torch.py").write_text("import sys; loader = type(__loader__).__name__")
    code = """
import importlib.util, sys
for _ in range(2):
    importlib.util.find_spec("torch")
watching = [type(finder).__name__ for finder in sys.meta_path].count("FrameworkImports")
import torch
after = [type(finder).__name__ for finder in sys.meta_path].count("FrameworkImports")
print(watching, after, torch.loader, "exec_module" in vars(torch.__spec__.loader))
"""
    seen = python(code, tmp_path, PYTHONPATH=str(inject), TRACEVIEW_DIR="capture")
    assert seen == "1 1 SourceFileLoader False\n"  # it goes on watching for other frameworks


def test_a_collector_that_cannot_start_leaves_the_program_alone(tmp_path, inject):
    (tmp_path / "torch.py").write_text("")  # a framework without anything that the collector needs
    code = "import torch; print('goes on')"
    assert python(code, tmp_path, PYTHONPATH=str(inject), TRACEVIEW_DIR="capture") == "goes on\n"
    (note,) = (tmp_path / "capture" / "raw").glob(".process-*.txt")
    assert note.read_text().startswith("failed\nthe collector could not start: ")


def test_an_old_version_of_a_framework_may_need_no_collector(tmp_path, inject):
    (tmp_path / "keras.py").write_text("__version__ = '2.3.1'")
    assert python("import keras; print('goes on')", tmp_path, PYTHONPATH=str(inject), TRACEVIEW_DIR="capture")
    (note,) = (tmp_path / "capture" / "raw").glob(".process-*.txt")
    assert note.read_text() == "python\n\n"
