"""Measures convolution algorithms, frameworks or scaling, for your layers on this machine.

The result of each study is an ordinary capture for `report`, `sql`, `page` and `compare`. `traceview study algorithms
--help` explains one.
"""

from __future__ import annotations

import argparse
import importlib

from traceview.cli.parsing import Help, VerbParser

HELP = "measure convolution algorithms, models in every framework, training over processes"

EXAMPLES = """examples:
  traceview study algorithms --model alexnet --batch 16          every algorithm of every convolution
  traceview study algorithms --layer "64x3x227x227 k96 11x11 s4"
  traceview study frameworks --models lenet,alexnet              the same models in every framework
  traceview study scaling --ranks 1,2,4 --batch 16,64 -- torchrun --nproc_per_node {ranks} train.py --batch {batch}
"""

STUDIES = ("algorithms", "frameworks", "scaling", "import")
"""Each is a module `study_NAME`, beside this one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The studies, each with its own options."""
    parts = parser.add_subparsers(dest="study", metavar="STUDY", required=True, parser_class=VerbParser)
    for name in STUDIES:
        module = importlib.import_module(f"traceview.cli.study_{name}")
        part = parts.add_parser(
            name, help=module.TITLE, description=module.__doc__, epilog=module.EXAMPLES, formatter_class=Help
        )
        part.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        module.configure(part)
        part.set_defaults(run_study=module.run)


def run(args: argparse.Namespace) -> int:
    """Run the study; its exit code."""
    code: int = args.run_study(args)
    return code
