"""Prints a shell's completion script: Tab then completes verbs, options, reports, rules, tables, formats and files."""

from __future__ import annotations

import argparse

from traceview.cli.output import emit

HELP = "print the script that makes Tab complete in bash, zsh or fish"

EXAMPLES = """examples:
  eval "$(traceview completion bash)"                              in ~/.bashrc
  eval "$(traceview completion zsh)"                               in ~/.zshrc, after compinit
  traceview completion fish > ~/.config/fish/completions/traceview.fish
"""

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `traceview completion`."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script; returns 0."""
    from argcomplete.shell_integration import shellcode

    emit([shellcode(["traceview"], shell=args.shell)], None)
    return 0
