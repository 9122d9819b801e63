"""Options stand anywhere, and a wrong word is answered with the one that was meant."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from traceview import cli
from traceview.cli.parsing import Parser, VerbParser

PLACES = {
    "sql": [["T", "--format", "json", "Q"], ["T", "Q", "--format", "json"], ["--format", "json", "T", "Q"]],
    "report": [["T", "--limit", "3", "kernels", "ops"], ["T", "kernels", "--limit", "3", "ops"]],
    "advise": [["T", "--evidence", "RULE"], ["--evidence", "T", "RULE"], ["T", "RULE", "--evidence"]],
    "convert": [["A", "--threads", "1", "B", "-o", "c"], ["-o", "c", "A", "B", "--threads=1"]],
    "compare": [["A", "--limit", "3", "B"], ["--limit", "3", "A", "B"], ["A", "B", "--limit", "3"]],
    "classify": [["a", "--why", "b"], ["a", "b", "--why"]],
    "export": [["T", "--to", "chrome", "-o", "x"], ["--to", "chrome", "T", "-o", "x"]],
    "list": [["formats", "--format", "json"], ["--format", "json", "formats"]],
}


def parsed(verb: str, words: list[str]) -> dict[str, object]:
    found = vars(cli.build_parser([verb]).parse_args([verb, *words]))
    del found["run"]
    return found


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its verbs, at any depth."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for part in action.choices.values():
                yield from parsers(part)


@pytest.mark.parametrize("text", ["²", "٣", "٣GB", "nan", "inf", "1e400", "9" * 5000, "-", "", "1_0", "0x10", "\x00"])
def test_what_is_not_a_number_is_refused_by_every_option_in_a_sentence(text: str) -> None:
    every = [action for parser in parsers(cli.build_parser()) for action in parser._actions]
    read = {(action.option_strings[-1], action.type) for action in every if action.type not in (None, Path)}
    assert len(read) > 25
    for name, value_of in read:
        try:
            value = value_of(text)  # type: ignore[operator, misc]
        except argparse.ArgumentTypeError as error:
            assert len(str(error)) > len(text) + 10, name
        else:
            assert not isinstance(value, int | float | list), (name, value)


@pytest.mark.parametrize("verb", PLACES)
def test_options_stand_anywhere(verb: str) -> None:
    first, *others = [parsed(verb, words) for words in PLACES[verb]]
    assert others and all(other == first for other in others)


def test_what_stands_where_it_may(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sql", str(trace), "--format", "json", "SELECT 41 + 1 AS n"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 42}]


def test_nothing_behind_two_dashes_is_an_option() -> None:
    found = parsed("classify", ["a", "--why", "--", "--format", "-x"])
    assert (found["names"], found["format"], found["why"]) == (["a", "--format", "-x"], "table", True)
    assert parsed("sql", ["T", "--", "-- a comment"])["query"] == "-- a comment"
    assert parsed("sql", ["T", "-- a comment\nSELECT 1"])["query"] == "-- a comment\nSELECT 1"


def test_the_command_of_collect_is_left_alone() -> None:
    command = ["python", "train.py", "--steps", "9", "-o", "x", "--", "--format"]
    found = parsed("collect", ["--steps", "2", "--", *command])
    assert (found["steps"], found["output"], found["command"]) == (2, None, ["--", *command])
    assert parsed("collect", ["--steps", "2", *command])["command"] == command


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["reprot", "x"], "there is no verb 'reprot'; did you mean report? `traceview help` names them all."),
        (["report", "x", "--limt", "3"], "there is no option --limt; did you mean --limit? (see `traceview report"),
        (["collect", "--stpes", "3", "--", "true"], "there is no option --stpes; did you mean --steps?"),
        (["report", "x", "--format", "jsn"], "--format: there is no 'jsn'; did you mean json? choose from: table, "),
        (["list", "formatz"], "there is no 'formatz'; did you mean formats? choose from: formats, "),
        (["report"], "INPUT is missing (see `traceview report --help`)."),
        (["convert", "a"], "-o/--output is missing"),
        (["sql", "a", "b", "c"], "'c' is one argument too many"),
        (["report", "x", "--limit"], "--limit needs a value; one that begins with - is written as --limit=VALUE"),
        (["report", "x", "--memory", "-5GB"], "--memory: '-5GB' is not a size; write for example 512MB or 2GB"),
        (
            ["report", "x", "--memory", "-GB"],
            "--memory needs a value; one that begins with - is written as --memory=V",
        ),
        (["convert", "x", "-o"], "-o/--output needs a value; one that begins with - is written as --output=VALUE"),
        (["compare", "--a", "--b", "x"], "--a needs a value"),
        (
            ["--format", "json", "report", "x"],
            "no option --format before the verb; options of a verb stand behind it: `",
        ),
        (["query", "x"], "there is no verb 'query'; did you mean `traceview sql`?"),
        (["diff", "x", "y"], "there is no verb 'diff'; did you mean `traceview compare`?"),
        (["report", ""], "the name of the input is empty; give a capture, a trace file or a folder."),
        (["compare", "x", ""], "the name of the input is empty"),
        (["convert", "x", "-o", ""], "the name after -o is empty."),
        (["report", "x", "kernel"], "did you mean kernels?"),
        (["advise", "x", "pagable_copies"], "did you mean pageable_copies?"),
        (["help", "advice"], "did you mean advise?"),
        (["xyz"], "there is no verb 'xyz'; choose from: collect, convert, "),
        (["--verison"], "there is no option --verison before the verb; did you mean --version?"),
    ],
)
def test_a_wrong_word_is_one_sentence(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    assert (code, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert says in captured.err


def test_a_trace_without_a_verb(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([str(trace)]) == 2
    assert f"did you mean `traceview report {trace}`?" in capsys.readouterr().err


def helped(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main(words)
    assert end.value.code == 0
    return capsys.readouterr().out


def test_help_of_a_study_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    asked = helped(["help", "study", "algorithms"], capsys)
    assert asked == helped(["study", "algorithms", "--help"], capsys) and "--backends" in asked


@pytest.mark.parametrize("verb", cli.VERBS)
def test_help_is_whole_however_it_is_asked_for(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = helped([verb, "--help"], capsys)
    assert asked == helped(["help", verb], capsys)
    assert verb in ("collect", "study", "tune") or asked == helped([verb, "x", "-h"], capsys)
    places = [action for action in parser_of(verb)._actions if not action.option_strings]
    options, examples = asked.split("\nexamples:\n")
    assert all(str(action.metavar) in options for action in places)
    assert f"  traceview {verb}" in examples


def parser_of(verb: str) -> Parser:
    (parts,) = [action for action in cli.build_parser([verb])._actions if action.dest == "verb"]
    assert isinstance(parts.choices, dict)
    parser = parts.choices[verb]
    assert isinstance(parser, VerbParser)
    return parser


def test_help_without_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert helped([], capsys) == helped(["help"], capsys) == helped(["--help"], capsys)


@pytest.mark.parametrize("verb", cli.VERBS)
def test_help_fits_a_narrow_terminal(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    before, _, examples = helped(["help", verb], capsys).partition("\nexamples:\n")
    assert max(map(len, before.splitlines())) <= 80
    rest = examples.partition("\n\n")[2]
    assert all(len(line) <= 80 for line in rest.splitlines() if not line.startswith("  "))


def test_a_mistyped_file_is_answered_with_its_neighbour(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(trace.with_name("smal.json"))]) == 3
    assert capsys.readouterr().err.endswith("smal.json does not exist; did you mean small.json?\n")
    assert cli.main(["report", str(trace.with_name("nothing-like-it"))]) == 3
    assert capsys.readouterr().err.endswith("nothing-like-it does not exist.\n")
