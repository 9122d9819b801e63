"""Lines that `tune` prints to keep an option do what the option did, pasted into a shell or a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import legacy
import pytest

from traceview.experiments.tune import options, plan_option
from traceview.experiments.tune.options import Facts, Option
from traceview.paths import read_toml

INJECT = Path(__file__).resolve().parents[3] / "collectors" / "inject"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
PLACES = {name: f"/here/{name}" for name in read_toml(options.FILE)["need"]} | options.installed()
SHELL = ("export ", "unset ")
ROWS = options.load()


def facts(row: Option) -> Facts:
    """Facts of this machine, with a device that the option is for."""
    return Facts(row.framework, "", "cuda" if "gpu" in row.needs else "cpu", CORES, PLACES)


def lines(row: Option) -> str:
    return options.lines(row, facts(row))


def of(framework: str) -> list[Option]:
    """The options of a framework that are kept by lines of Python."""
    return [row for row in ROWS if row.framework == framework and not lines(row).startswith(SHELL)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_lines_are_a_shells_or_pythons(row: Option) -> None:
    text = lines(row)
    assert not re.search(r"\{\w+\}", text), "what stands in braces is filled in"
    if text.startswith(SHELL):
        assert not row.hook and "..." not in text
    else:
        compile(text, row.name, "exec")
        assert row.hook or row.config, (
            "Python says what was done in the process, or what a framework took from a variable"
        )


@pytest.mark.parametrize("row", [row for row in ROWS if lines(row).startswith(SHELL)], ids=lambda row: row.name)
def test_a_shell_makes_the_environment_that_was_tried(row: Option) -> None:
    touched = [*row.environment, *row.unset]
    held = dict.fromkeys(row.unset, "held") | {"HOME": "/home/me", "PATH": os.environ["PATH"]}
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    words = ["sh", "-c", f'{lines(row)}; exec "$@"', "sh", sys.executable, "-S", "-c", show]
    done = subprocess.run(words, env=held, capture_output=True, text=True, check=True)
    found, expected = json.loads(done.stdout), options.environment([row], facts(row), held)
    if row.name == "jax_cache":  # Where programs are kept is one's own choice: in runs of tune it is among the results.
        assert found.pop("JAX_COMPILATION_CACHE_DIR") == "/home/me/.cache/jax"
    names = [name for name in touched if name in found or name != "JAX_COMPILATION_CACHE_DIR"]
    assert {name: found.get(name) for name in names} == {name: expected.get(name) for name in names}


TORCH = """
import json, sys
import torch

class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return torch.full((3, 8, 8), float(index)), index % 4

torch.set_num_threads({threads})
# start
torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(288, 4))
device = torch.device("cpu")
# model
# ddp
# optimizer
# loader
for images, labels in loader:
    # step
    # zero
    # call
    torch.nn.functional.cross_entropy(output, labels).backward()
    optimizer.step()
print(json.dumps(sys.modules["traceview_inject.times"].SEEN))
"""
DEFAULTS = {
    "ddp": "model = torch.nn.parallel.DistributedDataParallel(model)",
    "optimizer": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
    "loader": "loader = torch.utils.data.DataLoader(Images(), batch_size=8)",
    "zero": "optimizer.zero_grad()",
    "call": "output = model(images)",
}
SLOTS = {"DataLoader(": "loader", "optim.": "optimizer", "Parallel(": "ddp", "zero_grad": "zero", "output": "call"}
SLOTS |= {"autocast": "call", "images": "step", "model": "model"}
"""Place where a line belongs, by the first of these words that it holds; at the start if it holds none."""
PASSED = {"loader": "Images(), batch_size=8", "optimizer": "model.parameters(), lr=0.1"}
OTHERWISE = {
    "onednn_on": {"start": "torch.backends.mkldnn.enabled = False"},
    "deterministic_off": {"start": "torch.use_deterministic_algorithms(True)"},
    "zero_grad_to_none": {"zero": "optimizer.zero_grad(set_to_none=False)"},
    "no_input_gradient": {"step": "images.requires_grad_(True)"},
    "single_precision": {"model": "model.double()"},
    "loader_persistent": {"loader": "loader = torch.utils.data.DataLoader(Images(), batch_size=8, num_workers=1)"},
}
"""Lines that make a script do otherwise than with the option, where that is not the default."""
THE_SAME = {
    "onednn_off": "no: it is off already",
    "deterministic_off": "no: it is off already",
    "no_input_gradient": "no: the script does nothing that it is about",
    "tensorflow_data": "no: the script prefetches",
    "tensorflow_graph": "no: the script does nothing that it is about",
}
"""Results of options where a script has their lines; for all others one of these."""
ALREADY = ("no: the script sets", "no: it is so already, by the script or by default")


def rounds(rows: list[Option]) -> list[list[Option]]:
    """Options that can be in one script: of a group one at a time, and the compiler alone."""
    seen: dict[str, list[Option]] = defaultdict(list)
    alone = [[row] for row in rows if row.group == "compiler"]
    for row in rows:
        if row.group != "compiler":
            seen[row.group].append(row)
    most = max(map(len, seen.values()))
    return [[group[at] for group in seen.values() if at < len(group)] for at in range(most)] + alone


def torch_script(rows: list[Option], are_pasted: bool) -> str:
    """A script without what these options do, or with their lines."""
    slots = {name: [text] for name, text in DEFAULTS.items()} | {"start": [], "model": [], "step": []}
    if all(row.group != "communication" for row in rows):
        slots["ddp"] = []
    for row in rows:
        for slot, text in OTHERWISE.get(row.name, {}).items():
            slots[slot] = [text]
    for row in rows if are_pasted else []:
        own: dict[str, list[str]] = defaultdict(list)
        for line in lines(row).splitlines():
            slot = next((slot for word, slot in SLOTS.items() if word in line.partition("#")[0]), "start")
            passed = PASSED.get(slot, "") + (", num_workers=1" if row.name == "loader_persistent" else "")
            own[slot].append(line.replace("..., ", f"{passed}, " if passed else ""))
        for slot, texts in own.items():
            slots[slot] = [*(slots[slot] if slot in ("start", "model", "step") else []), *texts]
    text = TORCH.replace("{threads}", "2" if "one_thread" in {row.name for row in rows} else "1")
    for slot, texts in slots.items():
        text = re.sub(rf"( *)# {slot}\n", lambda at, texts=texts: "".join(f"{at[1]}{it}\n" for it in texts), text)
    return text


def said(python: Path | str, script: str, rows: list[Option], folder: Path) -> dict[str, str]:
    """Return the results of options in a script in which they are tried too."""
    tried = ",".join(row.name for row in rows)
    own = {"PYTHONPATH": str(INJECT), "TRACEVIEW_TRY": tried, "TRACEVIEW_DIR": str(folder), "TRACEVIEW_MODE": "apply"}
    done = subprocess.run(
        [str(python), "-c", script], env={**os.environ, **own}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def check(python: Path | str, with_lines: str, without: str, rows: list[Option], folder: Path) -> None:
    """With its lines an option finds that the script does it already, and without them it does something."""
    names = {row.name for row in rows}
    before = said(python, without, rows, folder)
    assert {name: before[name][:5] for name in names} == dict.fromkeys(names, "yes: "), before
    after = said(python, with_lines, rows, folder)
    assert {name for name in names if not after[name].startswith(THE_SAME.get(name, ALREADY))} == set(), after


@pytest.mark.long
@pytest.mark.skipif(CORES < 2, reason="needs two cores")
@pytest.mark.parametrize("rows", rounds(of("torch")), ids=lambda rows: "+".join(row.name for row in rows))
def test_pytorch_with_the_lines_does_what_the_options_do(rows: list[Option], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    if any(reason := options.why_not(row, facts(row)) for row in rows if row.group == "compiler"):
        pytest.skip(f"{rows[0].name}: {reason}")
    check(sys.executable, torch_script(rows, True), torch_script(rows, False), rows, tmp_path)


TENSORFLOW = """
import json, sys
import tensorflow as tf
# tensorflow_threads
dataset = tf.data.Dataset.range(8).map(lambda number: number + 1).batch(4)
# tensorflow_data
for batch in dataset:
    tf.reduce_sum(batch)
model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
# tensorflow_graph
print(json.dumps(sys.modules["traceview_inject.times"].SEEN))
"""
EAGER = 'model.compile(loss="mse", run_eagerly=True)'
ONNX_RUNTIME = """
import json, sys
import onnx, onnxruntime
from onnx import TensorProto, helper
told = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "graph", told[:1], told[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.intra_op_num_threads = 1
options.enable_cpu_mem_arena = False
# lines
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
print(json.dumps(sys.modules["traceview_inject.times"].SEEN))
"""


def frameworks() -> str:
    """A Python with TensorFlow, JAX and ONNX Runtime; a skip, said, where there is none."""
    return os.environ.get("TRACEVIEW_TEST_PYTHON") or pytest.skip("TRACEVIEW_TEST_PYTHON names no Python with them")


@pytest.mark.long
@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_tensorflow_with_the_lines_does_what_the_options_do(tmp_path: Path) -> None:
    rows, script = of("tensorflow"), TENSORFLOW
    for row in rows:
        script = script.replace(f"# {row.name}\n", lines(row).replace("compile(..., ", 'compile(loss="mse", ') + "\n")
    assert "\n# " not in script and "..." not in script
    check(frameworks(), script, TENSORFLOW.replace("# tensorflow_graph", EAGER), rows, tmp_path)


@pytest.mark.long
@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_onnx_runtime_with_the_lines_does_what_the_options_do(tmp_path: Path) -> None:
    rows = of("onnxruntime")
    script = ONNX_RUNTIME.replace("# lines\n", "".join(f"{lines(row)}\n" for row in rows))
    check(frameworks(), script, ONNX_RUNTIME, rows, tmp_path)


ASKED = f"""
import json, sys
sys.path.append({str(INJECT)!r})
from traceview_inject import options
print(json.dumps([options.asked(path) for path in sys.argv[1:]]))
"""
CONFIGURED = [row for row in ROWS if row.config]


@pytest.mark.long
@pytest.mark.parametrize("row", CONFIGURED, ids=lambda row: row.name)
def test_the_framework_says_that_the_lines_took_effect(row: Option, tmp_path: Path) -> None:
    old = row.framework == "theano"
    python = str(legacy.python("theano")) if old else frameworks()
    before, after = (lines(row), "") if lines(row).startswith(SHELL) else (":", f"import jax\n{lines(row)}\n")
    home = {"HOME": str(tmp_path), **(legacy.compiled() if old else {})}
    words = ["sh", "-c", f'{before}; exec "$@"', "sh", python, "-c", after + ASKED, *row.config]
    done = subprocess.run(words, env={**os.environ, **home}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    expected: Any = [text.format_map({"cache": f"{tmp_path}/.cache/jax"}) for text in row.config.values()]
    assert json.loads(done.stdout.splitlines()[-1]) == expected


@pytest.mark.long
def test_a_plan_is_applied_by_its_lines(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    sizes = {"batch": 2, "in_channels": 3, "height": 8, "width": 8, "out_channels": 4, "groups": 1, "dtype": "float32"}
    sides = {"filter": 3, "stride": 1, "pad": 0, "dilation": 1}
    names = {"filter": ("filter_height", "filter_width")}
    for side, size in sides.items():
        sizes |= dict.fromkeys(names.get(side, (f"{side}_h", f"{side}_w")), size)
    gemm = {"backend": "torch_gemm", "implementation": "im2col + GEMM"}
    layer = {"module": "0", "shape": sizes, "layout": "nchw"}
    layers = [layer | dict.fromkeys(("fprop", "dgrad", "wgrad"), gemm)]
    plan = {"traceview_plan": 1, "numerics": "close", "threads": 1, "layers": layers}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    pasted = next(iter(plan_option.option(tmp_path).lines.values()))
    script = (
        "import torch\ntorch.set_num_threads(1)\nmodel = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3))\n"
        f"{pasted}\nmodel(torch.randn(2, 3, 8, 8))\n"
        "from traceview.convolution import runtime\nprint(dict(runtime.tally))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout == "{'by the plan': 1}\n"
