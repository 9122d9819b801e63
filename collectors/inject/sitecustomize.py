"""Starts a collector inside an unmodified Python program, at the moment the program imports its framework.

This folder is put first on PYTHONPATH, by `traceview collect` or by hand:

    TRACEVIEW_DIR=capture PYTHONPATH=collectors/inject python train.py

Invariant: a program that imports no supported framework runs as if this file did not exist. The folder leaves
`sys.path` again, another `sitecustomize` that this one hides is run as well, and nothing is imported that Python does
not import by itself: this runs at the start of every Python process of a job.
"""

# pathlib would be such an import.
# ruff: noqa: PTH100, PTH103, PTH118, PTH120, PTH123, PTH208

import os
import sys

# What `importlib` is made of, and loaded in every Python; importlib.util would bring more along.
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import PathFinder, spec_from_file_location

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTORS = os.path.dirname(HERE)
SAYS = b'\nFRAMEWORK = "'
"""Start of the line in which a collector names its framework: `FRAMEWORK = "keras>=3"`, the module whose import starts
it, and from which major version on (from any when left out).
"""


def collectors():
    """The collectors in the folder above: framework -> files by the version from which on they are for it."""
    found = {}
    for name in os.listdir(COLLECTORS):
        if name.endswith(".py"):
            with open(os.path.join(COLLECTORS, name), "rb") as file:
                said = file.read().partition(SAYS)[2].partition(b'"')[0].decode()
            framework, _, since = said.partition(">=")
            found.setdefault(framework, {})[int(since or 0)] = name
    found.pop("", None)
    return found


def load(name, path):
    """Run the file `path` as module `name`, which no import statement of the program can meet by accident."""
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def note(state, detail=""):
    """Leave word of how far this process came; in the form of `traceview_inject/raw.py`."""
    folder = os.path.join(os.environ["TRACEVIEW_DIR"], "raw")
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f".process-{os.getpid()}.txt"), "w") as file:
            file.write(f"{state}\n{detail}\n")
    except OSError:
        pass  # A full disk or a folder that went away is no reason to disturb the program.


def start_collector(framework, files):
    """Load the collector of `framework` and let it install its hooks; its failure never reaches the program."""
    version = str(getattr(sys.modules.get(framework), "__version__", "")).partition(".")[0]
    # A version that is no number is taken for the newest.
    fitting = [since for since in files if not version.isdigit() or since <= int(version)]
    if not fitting:
        return
    name = files[max(fitting)]
    sys.path.insert(0, HERE)  # For the collector's own imports, all of the package traceview_inject.
    try:
        if os.environ.get("TRACEVIEW_MODE") != "apply":
            load(f"traceview_{name[:-3]}", os.path.join(COLLECTORS, name)).install()
        try_options(framework)
        apply_plan(framework)
    except Exception as error:
        note("failed", f"the collector could not start: {error!r}")
    finally:
        sys.path.remove(HERE)


def try_options(framework):
    """Put in place what `traceview tune` tries in this process."""
    if os.environ.get("TRACEVIEW_TRY") or os.environ.get("TRACEVIEW_TRY_VARIABLES"):
        from traceview_inject import options

        options.install(framework)


def apply_plan(framework):
    """Have the models of this process run what `traceview schedule` planned for them."""
    if os.environ.get("TRACEVIEW_PLAN"):
        from traceview_inject import plan

        plan.install(framework)


class FrameworkImports:
    """A finder that finds nothing itself: it lets the others find a framework and asks to be told when it is loaded."""

    def __init__(self):
        self.collectors = collectors()
        self.started = set()  # One program may import several frameworks, or one twice.

    def find_spec(self, name, path=None, target=None):
        """The framework's own spec, its loader prepared to start the collector once the module has run."""
        if name not in self.collectors or name in self.started:
            return None
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            self.follow(spec.loader, name)
        return spec

    def follow(self, loader, name):
        """Start the collector after `loader` has run the module; the loader keeps its type, for those who look.

        Asking for a spec is not importing it (libraries do so to learn what is installed): only running it counts.
        """
        run_module = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            run_module(module)
            if name not in self.started:
                self.started.add(name)
                start_collector(name, self.collectors[name])

        loader.exec_module = exec_module


def run_hidden_sitecustomize():
    """Run the `sitecustomize` that Python would have found without this folder, as Python would have run it."""
    rest = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def main():
    """Watch for a framework, unless this process does not belong to a capture; then step out of the way."""
    if os.environ.get("TRACEVIEW_DIR"):
        # A relative path means the folder that the program starts in, also after it changes directory.
        os.environ["TRACEVIEW_DIR"] = os.path.abspath(os.environ["TRACEVIEW_DIR"])
        note("python")
        try:
            sys.meta_path.insert(0, FrameworkImports())
        except (OSError, ValueError) as error:
            note("failed", f"the collectors could not be read: {error!r}")
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    run_hidden_sitecustomize()


main()
