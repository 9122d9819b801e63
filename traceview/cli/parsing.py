"""How the command line is read: options anywhere, and a wrong word answered with the one that was probably meant.

Invariant: what follows `--` is never an option, and the command of `collect` is never touched.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from traceview.cli.output import emit, say
from traceview.errors import UsageError, meant

COMPLETING = "_ARGCOMPLETE"
"""Set by the shell that asks what a half-typed command could become."""
_OPTION = re.compile(r"-(?!\d+(?:\.\d*)?$)[^ ]+")
_NEGATIVE = re.compile(r"-\.?\d")


_NEEDS_VALUE = r"\1\2 needs a value; one that begins with - is written as \2=VALUE"


class Help(argparse.RawDescriptionHelpFormatter):
    """Help whose paragraphs fit the terminal; what is indented, or a heading, stays as it is written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for paragraph in text.strip("\n").split("\n\n"):
            is_literal = paragraph.startswith("examples:") or "\n  " in paragraph
            parts.append(paragraph if is_literal else textwrap.fill(paragraph, width, initial_indent=indent))
        return "\n\n".join(parts) + "\n"


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence, with control characters of what was typed escaped."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Python 3.14 and later take `-5GB` as a value, earlier ones as an option; here it is a value on all of them.
        self._negative_number_matcher = _NEGATIVE

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit with 2."""
        message = message.removeprefix("argument ").rstrip(".")
        message = re.sub(r"^the following arguments are required: ([^,]+).*", r"\1 is missing", message)
        message = re.sub(r"^(\S+/)?(-\S+): expected (?:one|at least one) argument$", _NEEDS_VALUE, message)
        say(f"{message} (see `{self.prog} --help`).")
        raise SystemExit(UsageError.exit_code)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is not among the choices, with the nearest ones."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            raise argparse.ArgumentError(
                action, f"there is no {value!r}; {meant(str(value), known)}choose from: {', '.join(known)}"
            )

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help that cannot be written is a failure, which argparse itself would hide."""
        if file is sys.stdout:
            emit([message], None)
        else:
            super()._print_message(message, file)


class VerbParser(Parser):
    """The parser of a verb: options may also stand between and behind the inputs."""

    _every: list[argparse.Action] | None = None

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """First the options, wherever they stand, then what is left in its order."""
        places = [action for action in self._actions if not action.option_strings]
        # A command, or a word behind which all belongs to a parser of its own.
        is_command = any(action.nargs in (argparse.REMAINDER, argparse.PARSER) for action in places)
        if is_command:
            namespace, left = super().parse_known_args(args, namespace)
            self._refuse(left)
            return namespace, left
        words = list(sys.argv[1:] if args is None else args)
        end = words.index("--") if "--" in words else len(words)
        with self._only([action for action in self._actions if action.option_strings]):
            namespace, free = super().parse_known_args(words[:end], namespace)
        self._refuse([word for word in free if _OPTION.fullmatch(word)])
        with self._only(places):
            rest = ["--", *words[end + 1 :]] if words[end + 1 :] else []
            namespace, left = super().parse_known_args([*free, *rest], namespace)
        if left:
            self.error(f"{left[0]!r} is one argument too many")
        return namespace, []

    def format_help(self) -> str:
        """The whole help, also while only a part of the arguments is read."""
        with self._only(self._every or self._actions):
            return super().format_help()

    @contextlib.contextmanager
    def _only(self, actions: list[argparse.Action]) -> Iterator[None]:
        before, known = self._actions, self._every
        self._every, self._actions = known or before, actions
        try:
            yield
        finally:
            self._actions, self._every = before, known

    def _refuse(self, words: Sequence[str]) -> None:
        """Say of the first of these that it is not an option."""
        if words:
            name = words[0].partition("=")[0]
            self.error(f"there is no option {name}; {meant(name, self._option_string_actions)}".rstrip("; "))
