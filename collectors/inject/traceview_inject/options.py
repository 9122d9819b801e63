"""Options that are tried in this process, without a change of the program: hooks, and variables that are looked after.

TRACEVIEW_TRY names functions of `options_FRAMEWORK.py`, each called with `say` when the framework was imported.
TRACEVIEW_TRY_VARIABLES is JSON: option -> `set` (variables, null for one to be absent), `read_by` (pattern of a library
that must be in the process), `not_with` (of one that must not) and `config` (names in the framework, such as
`jax.config.jax_default_matmul_precision`, with the text of what they have to be then, also when the steps are over).
What an option did begins with `yes: ` or `no: `.

Invariant: an option says `yes` only of what was seen in this process, and THE_SAME where that is so without it. A hook
that fails says so, and the program goes on without it.
"""

import contextlib
import ctypes
import functools
import importlib.util
import inspect
import json
import os
import re
from pathlib import Path

from traceview_inject.times import AT_THE_END, applied

HOOKS, VARIABLES = "TRACEVIEW_TRY", "TRACEVIEW_TRY_VARIABLES"
NOT_SEEN = "no: the script does nothing that it is about"
THE_SAME = "no: it is so already, by the script or by default"
MAPS, STARTED_WITH = "/proc/self/maps", "/proc/self/environ"
# What the C library reads before the program begins.
AT_THE_START = ("MALLOC_", "GLIBC_TUNABLES")
# What binds threads, to places that a library makes of the system's word on its cores, if it has that.
BINDING = {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}
# A value alone, or one of a list.
LISTED = "(^|[: ,]){}($|[: ,])"
CHANGES, BEING_MADE = {}, []


def install(framework):
    """Put the hooks of `framework` in place, once it has been imported, and look after variables."""
    look_after(os.environ.get(VARIABLES, ""))
    names = [name for name in os.environ.get(HOOKS, "").split(",") if name]
    module = "traceview_inject.options_" + framework
    if not names or importlib.util.find_spec(module) is None:
        return
    hooks = importlib.import_module(module)
    for name in names:
        if hasattr(hooks, name):
            say = functools.partial(applied, name)
            say(NOT_SEEN)
            try:
                getattr(hooks, name)(say)
            except Exception as error:
                say(f"no: it could not be put in place: {error!r}")


def look_after(text):
    """Say of options that are variables whether they stand as set, and whether their reader is in this process."""
    maps = content(MAPS)
    for name, option in json.loads(text or "{}").items():
        said = state(option, os.environ, maps, content(STARTED_WITH).split("\0"))
        if said.startswith("yes: ") and BINDING & {*option["set"]}:
            n = n_places(maps, option["read_by"])
            said = f"{said}; whether threads are bound is not known" if n is None else said
            said = said if n != 0 else "no: the OpenMP library knows no places to bind threads to"
        applied(name, said)
        if said.startswith("yes: ") and option.get("config"):
            check = functools.partial(ask_framework, name, said, option["config"])
            check()
            AT_THE_END.append(check)


def ask_framework(name, said, config):
    """Say what the framework itself makes of an option's variables; what it does not tell is not claimed."""
    found = {path: text for path, text in ((path, asked(path)) for path in config) if text is not None}
    other = [f"no: {path} is {text}" for path, text in found.items() if text != config[path]]
    seen = "".join(f"; {path} is {text}" for path, text in found.items())
    applied(name, other[0] if other else said + seen)


def asked(path):
    """The text of what a dotted name stands for, called if it is a function; None where there is no such name."""
    words = path.split(".")
    for at in range(len(words) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(words[:at]))
            for word in words[at:]:
                value = getattr(value, word)
            return str(value() if callable(value) else value)
        except Exception:
            continue
    return None


def state(option, environment, maps, started_with):
    """Report whether the variables of one option are in effect; `maps` is "" where the system does not tell."""
    began = dict(line.split("=", 1) for line in started_with if "=" in line)
    for name, value in option["set"].items():
        now = began.get(name) if began and name.startswith(AT_THE_START) else environment.get(name)
        stands = now is None if value is None else re.search(LISTED.format(re.escape(value)), now or "")
        if not stands:
            return f"no: the script sets {name}={now}" if now else f"no: {name} is not set"
    libraries = sorted({Path(line.split()[-1]).name for line in maps.splitlines() if "/" in line})
    reader = [library for library in libraries if option["read_by"] and re.search(option["read_by"], library)]
    other = [library for library in libraries if option["not_with"] and re.search(option["not_with"], library)]
    if other:
        return f"no: {other[0]} is in the process"
    if maps and option["read_by"] and not reader:
        return "no: nothing in the process reads it"
    return "yes: {}{}".format(said(option["set"]), ", read by " + reader[0] if reader else "")


def n_places(maps, read_by):
    """Return the places that OpenMP libraries in this process bind threads to; None where none of them tells."""
    found = []
    for path in {line.split(maxsplit=5)[-1] for line in maps.splitlines() if re.search(read_by, line)}:
        with contextlib.suppress(OSError, AttributeError):
            found.append(ctypes.CDLL(path).omp_get_num_places())
    return max(found, default=None)


def said(variables):
    """Variables as a shell writes them."""
    return " ".join(name + " unset" if value is None else f"{name}={value}" for name, value in variables.items())


def content(path):
    """The text of a file of the system; "" where there is none."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def change_arguments(kind, change):
    """Have `change` asked for other arguments whenever a `kind` is made.

    It gets the object and the arguments by name, as the program gave them and defaults, and returns those to replace
    and a text for when that went well; None for none. Several changes of one kind do not see each other's.
    """
    if kind in CHANGES:
        CHANGES[kind].append(change)
        return
    changes = CHANGES[kind] = [change]
    make, signature = kind.__init__, inspect.signature(kind.__init__)

    @functools.wraps(make)
    def made(self, *args, **kwargs):
        if any(other is self for other in BEING_MADE):  # By the class that its own class is made of.
            return make(self, *args, **kwargs)
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            return make(self, *args, **kwargs)
        BEING_MADE.append(self)
        try:
            return make_changed(make, self, bound, changes)
        finally:
            BEING_MADE.pop()

    kind.__init__ = made


def make_changed(make, made, bound, changes):
    """Make the object with what the changes want; with the program's own arguments where that fails."""
    own, names = bound.arguments, [*bound.signature.parameters]
    for name in names:
        if name in own and inspect.isgenerator(own[name]):
            own[name] = list(own[name])  # It may be asked for twice.
    arguments = {name: parameter.default for name, parameter in bound.signature.parameters.items()}
    arguments.update(own)
    found = [result for result in (change(made, dict(arguments)) for change in changes) if result is not None]
    if not found:
        return make(*bound.args, **bound.kwargs)
    args, kwargs = bound.args, bound.kwargs
    changed = bound.signature.bind(*args, **kwargs)
    for values, _ in found:
        changed.arguments.update(values)
    changed.arguments = type(own)((name, changed.arguments[name]) for name in names if name in changed.arguments)
    try:
        result = make(*changed.args, **changed.kwargs)
    except Exception as error:
        for _, say in found:
            say("no: {} takes no other arguments here: {}".format(type(made).__name__, str(error).split("\n")[0]))
        return make(*args, **kwargs)
    for values, say in found:
        pairs = ", ".join(f"{name}={value}" for name, value in values.items())
        say(f"yes: {type(made).__name__} made with {pairs}")
    return result
