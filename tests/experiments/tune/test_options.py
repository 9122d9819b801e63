"""Options as data: every row is complete and true of the project; which apply, and what a process is given."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from traceview.errors import UsageError
from traceview.experiments.tune import options
from traceview.experiments.tune.options import Facts, Option
from traceview.paths import read_toml

ROOT = Path(__file__).resolve().parents[3]
FRAMEWORKS = {"torch", "tensorflow", "jax", "onnxruntime", "mxnet", "theano"}
EVERYTHING = {name: f"/here/{name}" for name in read_toml(options.FILE)["need"]}
CPU = Facts("torch", "2.13.0+cpu", "cpu", 2, EVERYTHING)


def option(name: str) -> Option:
    (found,) = options.named([name])
    return found


@pytest.mark.parametrize("row", options.load(), ids=lambda row: row.name)
def test_a_row_is_complete_and_true_of_the_project(row: Option) -> None:
    assert row.framework in FRAMEWORKS | {options.ANY} and row.numbers in options.NUMBERS
    assert all(text.endswith(".") for text in (row.cost, row.unless)), "sentences"
    assert all(row.lines.values()) and {*row.lines} == {row.framework}, "lines for its framework"
    assert row.environment or row.unset or row.hook, "something is done"
    assert {*row.rules} <= {path.stem for path in (ROOT / "queries/advice").glob("*.sql")}
    assert {*row.needs} <= {*EVERYTHING}
    assert options.fits("1.0", row.versions) in (True, False)
    assert row.numbers != "changed" or row.only_when_asked
    for pattern in filter(None, (row.read_by, row.not_with)):
        re.compile(pattern)
    said = "".join(row.lines.values()).lower()
    for name in () if row.hook else (*row.environment, *row.unset):
        assert name.lower() in said, f"the lines say {name}"
    filled = json.dumps(options.environment([row], CPU, {}))
    assert not re.search(r"\{\w+\}", filled.replace("\\", "")), "no brace is left"


def test_a_word_names_one_option_or_one_group() -> None:
    rows = options.load()
    assert len({row.name for row in rows}) == len(rows) > 50
    assert not {row.name for row in rows} & {row.group for row in rows}


def test_what_must_be_tried_is_there() -> None:
    names = {row.name for row in options.load()}
    assert names >= {"all_cores", "threads_bound", "wait_passive", "malloc_keeps", "huge_pages", "jemalloc", "tcmalloc"}
    assert names >= {"flush_denormals", "onednn_on", "onednn_off", "onednn_widest", "channels_last", "compiled", "tf32"}
    assert names >= {"fused_optimizer", "foreach_optimizer", "zero_grad_to_none", "bf16_autocast", "cudnn_benchmark"}
    assert names >= {"loader_workers", "loader_pin_memory", "loader_persistent", "ddp_static_graph", "jax_cache"}


def test_an_option_of_another_framework_version_device_or_machine_says_why_not() -> None:
    def reason(name: str, facts: Facts) -> str | None:
        fitting, others = options.that_apply(facts, [option(name)])
        assert bool(fitting) != bool(others)
        return others[0][1] if others else None

    assert reason("fused_optimizer", CPU) is None
    old = Facts("torch", "2.3.1", "cpu", 2, EVERYTHING)
    assert reason("fused_optimizer", old) == "it is for torch >=2.4, and this is 2.3.1"
    assert reason("jax_threads", CPU) == "it is for jax"
    assert reason("tf32", CPU) == "it is for runs on a GPU"
    assert reason("tf32", Facts("torch", "2.13", "cuda", 2, EVERYTHING)) is None
    assert reason("all_cores", Facts("torch", "2.13", "cpu", 1, EVERYTHING)) == "there is one core"
    assert reason("jemalloc", CPU) is None
    assert "jemalloc is not installed" in str(reason("jemalloc", Facts("torch", "2.13", "cpu", 2, {"linux": "Linux"})))


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [("2.13.0+cpu", ">=2.4", True), ("2.3", ">=2.4,<3", False), ("3.0.1", ">=2.4,<3", False), ("", ">=2", True)],
)
def test_versions_are_compared_as_numbers(version: str, wanted: str, answer: bool) -> None:
    assert options.fits(version, wanted) is answer


def test_a_bound_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="bounds no version"):
        options.fits("2.0", "~=2")


def test_options_are_named_by_name_and_group() -> None:
    assert [row.name for row in options.named(["channels_last", "layout"])] == ["channels_last"]
    assert {row.name for row in options.named(["malloc"])} >= {"malloc_keeps", "jemalloc", "tcmalloc"}
    with pytest.raises(UsageError, match="channels_last"):
        options.named(["chanels_last"])


def test_advice_names_options_but_those_that_are_only_tried_when_asked() -> None:
    assert "huge_pages" in {row.name for row in options.of_rules(["page_faults"])}
    assert "tf32" not in {row.name for row in options.of_rules(["tensor_cores_unused"])}


def test_the_environment_is_the_given_one_with_what_the_options_change() -> None:
    base = {"HOME": "/h", "LD_PRELOAD": "/x.so", "ONEDNN_MAX_CPU_ISA": "AVX", "TRACEVIEW_TRY": "old"}
    tried = options.environment(options.named(["jemalloc", "onednn_widest", "channels_last"]), CPU, base)
    assert tried["LD_PRELOAD"] == "/x.so:/here/jemalloc" and tried["HOME"] == "/h"
    assert "ONEDNN_MAX_CPU_ISA" not in tried and tried["TRACEVIEW_TRY"] == "channels_last"
    watched = json.loads(tried["TRACEVIEW_TRY_VARIABLES"])
    assert watched["jemalloc"]["set"]["LD_PRELOAD"] == "/here/jemalloc"
    assert watched["onednn_widest"]["set"]["ONEDNN_MAX_CPU_ISA"] is None
    assert options.environment([], CPU, base) == {name: base[name] for name in base if name != "TRACEVIEW_TRY"}
    assert options.environment([option("all_cores")], CPU, {})["OMP_NUM_THREADS"] == "2"
    assert options.lines(option("all_cores"), CPU) == "torch.set_num_threads(2)"


@pytest.mark.parametrize(
    "pair", [("malloc_keeps", "jemalloc"), ("wait_active", "wait_passive"), ("onednn_avx2", "onednn_widest")]
)
def test_what_contradicts_itself_is_not_tried_together(pair: tuple[str, str]) -> None:
    both = tuple(option(name) for name in pair)
    assert options.conflict(both) and options.conflict(both[:1]) is None
    with pytest.raises(UsageError, match="cannot be tried together"):
        options.environment(both, CPU, {})


def test_variables_that_hold_a_list_do_not_contradict_each_other() -> None:
    both = tuple(option(name) for name in ("jax_vectors", "jax_fast_math"))
    flags = options.environment(both, Facts("jax", "0.10", "cpu", 2, EVERYTHING), {})["XLA_FLAGS"]
    assert flags == "--xla_cpu_prefer_vector_width=512 --xla_cpu_enable_fast_math=true"


def test_what_is_installed_is_found_where_libraries_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libjemalloc.so.2").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    found = options.installed()
    assert found["jemalloc"] == str(tmp_path / "libjemalloc.so.2")
    assert ("linux" in found) == (Path("/proc/self").exists()) and {*found} <= {*EVERYTHING}


def test_one_row_is_all_that_an_option_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "options.toml"
    shutil.copy(options.FILE, file)
    row = """
[[option]]
name = "arenas"
title = "One arena"
group = "malloc"
framework = "any"
versions = ">=1"
needs = ["cpu", "glibc"]
environment = { MALLOC_ARENA_MAX = "1" }
numbers = "equal"
cost = "Threads wait for each other."
unless = "Many threads allocate."
rules = ["page_faults"]
lines = { any = "export MALLOC_ARENA_MAX=1" }
seen = "the variable"
"""
    file.write_text(file.read_text(encoding="utf-8") + row, encoding="utf-8")
    monkeypatch.setattr(options, "FILE", file)
    options.load.cache_clear()
    try:
        assert "arenas" in {found.name for found in options.that_apply(CPU)[0]}
        assert "arenas" in {found.name for found in options.of_rules(["page_faults"])}
        assert options.environment(options.named(["arenas"]), CPU, {})["MALLOC_ARENA_MAX"] == "1"
    finally:
        monkeypatch.undo()
        options.load.cache_clear()


JOINED = read_toml(options.FILE)["joined"]


@pytest.mark.parametrize("name", JOINED)
def test_lines_that_share_a_variable_add_to_what_it_holds(name: str) -> None:
    """As pasted into a shell, one after the other, they make what the options made in the runs of tune."""
    found = [row for row in options.load() if name in row.environment]
    assert found
    for first in found:
        for second in found:
            pair = [first] if first is second or options.conflict([first, second]) else [first, second]
            facts = Facts(first.framework, "1.0", "cpu", 2, EVERYTHING)
            lines = "; ".join(options.lines(row, facts) for row in pair)
            words = ["sh", "-c", f'export {name}=held; {lines}; printf %s "${name}"']
            expected = options.environment(pair, facts, {name: "held"})[name]
            assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == expected
