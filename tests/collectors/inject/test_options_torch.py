"""Options in real PyTorch programs: each takes effect, leaves numbers as it says, and leaves the program's choices."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from traceview.experiments.tune import options

pytest.importorskip("torch")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1

PROGRAM = """
import json, os, sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

good = "good" in sys.argv
torch.manual_seed(0)
torch.set_num_threads(int(os.environ["CORES"]) if good else 1)
torch.backends.mkldnn.enabled = good
torch.set_float32_matmul_precision("medium" if good else "highest")
torch.use_deterministic_algorithms(not good)
if good:
    torch.set_flush_denormal(True)
seen = {}

class Images(Dataset):
    def __len__(self):
        return 48
    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 16, 16, generator=generator), index % 10, get_worker_info() is not None

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8 * 12 * 12, 10)
    def forward(self, images):
        hidden = torch.relu(self.conv1(images))
        seen["images"], seen["filters"] = images.stride(1), self.conv2.weight.stride(1)
        seen["hidden"] = str(hidden.dtype)
        seen["mkldnn"], seen["threads"] = torch.backends.mkldnn.enabled, torch.get_num_threads()
        seen["precision"], seen["input_gradient"] = torch.get_float32_matmul_precision(), images.requires_grad
        seen["denormal"] = float(torch.full((1 << 20,), 1e-40).mul(1.0).max())
        seen["deterministic"] = torch.are_deterministic_algorithms_enabled()
        return self.fc(torch.relu(self.conv2(hidden)).flatten(1))

def main():
    net, criterion = Net(), nn.CrossEntropyLoss()
    kind = torch.float64 if "double" in sys.argv else torch.float32
    net = net.to(kind)
    if good:
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, **({"fused": True} if good else {"foreach": False}))
    other = torch.optim.Adamax(net.parameters(), lr=1e-4, foreach=good)
    workers = {"num_workers": 1, "persistent_workers": True, "pin_memory": True} if good else {}
    loader = DataLoader(Images(), batch_size=16, **workers)
    for images, labels, by_worker in loader:
        if good:
            images = images.to(memory_format=torch.channels_last)
        images = images.to(kind).requires_grad_(not good)
        optimizer.zero_grad(set_to_none=good)
        seen["dropped"] = net.fc.weight.grad is None
        output = net(images)
        loss = criterion(output, labels)
        loss.backward()
        optimizer.step()
        other.step()
    seen.update(loss=loss.item(), by_worker=bool(by_worker.all()), pinned=loader.pin_memory, output=str(output.dtype),
        fused=bool(optimizer.defaults["fused"]), foreach=bool(other.defaults["foreach"]),
        sum=float(sum(parameter.double().abs().sum() for parameter in net.parameters())))
    module = sys.modules.get("traceview_inject.times")
    print(json.dumps({"seen": seen, "said": module.SEEN if module else {}}))

if __name__ == "__main__":
    main()
"""
CLOSE = ["channels_last", "fused_optimizer", "onednn_on", "all_cores", "zero_grad_to_none", "loader_workers"]
CLOSE += ["flush_denormals", "no_input_gradient", "deterministic_off"]


def ran(inject: Path, tried: list[str], *words: str, program: str = PROGRAM) -> tuple[dict, dict]:
    """Return what the program saw, and the results of the options."""
    names = {row.name: row.hook for row in options.load()}
    assert all(names[name] == name for name in tried), "each is a hook"
    environment = {**os.environ, "PYTHONPATH": str(inject), "TRACEVIEW_TRY": ",".join(tried), "CORES": str(CORES)}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "program.py")  # A file: workers of a DataLoader import it where they are not forked.
        script.write_text(program)
        command = [sys.executable, script, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seen"], found["said"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The bad program as it is."""
    inject = Path(__file__).parents[3] / "collectors" / "inject"
    os.environ["TRACEVIEW_DIR"] = str(tmp_path_factory.mktemp("plain"))
    return ran(inject, [])[0]


@pytest.mark.slow
@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_options_undo_what_a_bad_program_chose_and_its_numbers_stay_close(inject, plain) -> None:
    seen, said = ran(inject, CLOSE)
    assert {name: text[:4] for name, text in said.items()} == dict.fromkeys(CLOSE, "yes:"), said
    assert said["all_cores"] == f"yes: {CORES} threads instead of the script's 1"
    assert said["channels_last"] == "yes: 2 of 2 filters and the images"
    assert "fused=True" in said["fused_optimizer"] and "AdamW" in said["fused_optimizer"]
    before = (plain["images"], plain["filters"], plain["mkldnn"], plain["threads"], plain["input_gradient"])
    assert before == (256, 9, False, 1, True) and not plain["by_worker"] and not plain["fused"] and plain["denormal"]
    assert (seen["images"], seen["filters"], seen["mkldnn"], seen["threads"]) == (1, 1, True, CORES)
    assert seen["fused"] and not seen["foreach"] and seen["by_worker"] and seen["dropped"]
    assert not seen["denormal"] and not seen["input_gradient"] and not seen["deterministic"]
    assert seen["loss"] == pytest.approx(plain["loss"], rel=1e-4)
    assert seen["sum"] == pytest.approx(plain["sum"], rel=1e-4)


@pytest.mark.long
def test_options_whose_numbers_stay_equal_change_no_bit(inject, plain) -> None:
    equal = [row.name for row in options.named(["zero_grad_to_none", "no_input_gradient", "loader_workers"])]
    assert all(row.numbers == "equal" for row in options.named(equal))
    seen, said = ran(inject, equal)
    assert all(text.startswith("yes: ") for text in said.values()), said
    assert (seen["loss"], seen["sum"]) == (plain["loss"], plain["sum"])


@pytest.mark.long
def test_options_for_other_numbers_and_what_needs_a_gpu(inject, plain) -> None:
    tried = ["bf16_autocast", "matmul_medium", "onednn_off", "one_thread", "zero_grad_in_place", "foreach_optimizer"]
    seen, said = ran(inject, [*tried, "cudnn_benchmark", "loader_pin_memory"])
    assert seen["hidden"] == "torch.bfloat16" and seen["output"] == "torch.float32" and seen["precision"] == "medium"
    assert said["bf16_autocast"].startswith("yes: ") and said["matmul_medium"] == "yes: it is medium, was highest"
    assert (
        said["onednn_off"] == "no: it is off already"
        and said["one_thread"] == "no: it is so already, by the script or by default"
    )
    assert said["zero_grad_in_place"] == "no: it is so already, by the script or by default"
    assert said["cudnn_benchmark"] == "yes: it is True, was False" and seen["pinned"]
    assert said["foreach_optimizer"] == "yes: Adamax made with foreach=True" and seen["foreach"]
    assert seen["loss"] != plain["loss"]


@pytest.mark.long
@pytest.mark.skipif(CORES < 2, reason="needs two cores")
def test_what_the_program_chose_itself_is_left_and_said(inject) -> None:
    seen, said = ran(inject, [*CLOSE, "matmul_medium", "loader_persistent", "loader_pin_memory"], "good")
    same = dict.fromkeys(
        [*CLOSE, "matmul_medium", "loader_persistent"], "no: it is so already, by the script or by default"
    )
    same["loader_workers"] = "no: the script sets 1 workers"
    same["loader_pin_memory"] = "no: the script sets pin_memory=True"
    same["deterministic_off"] = "no: it is off already"
    same["no_input_gradient"] = "no: the script does nothing that it is about"
    assert said == same
    assert seen["fused"] and seen["mkldnn"] and seen["threads"] == CORES


@pytest.mark.long
def test_what_the_program_did_not_choose_is_set(inject) -> None:
    seen, said = ran(inject, ["onednn_off", "zero_grad_in_place"], "good")
    assert said["onednn_off"] == "yes: it is False, was True" and not seen["mkldnn"]
    assert said["zero_grad_in_place"] == "yes: set_to_none=False in AdamW" and not seen["dropped"]


@pytest.mark.long
def test_a_model_in_double_precision_is_made_single(inject, plain) -> None:
    own, _ = ran(inject, [], "double")
    assert (own["hidden"], own["output"]) == ("torch.float64", "torch.float64")
    seen, said = ran(inject, ["single_precision"], "double")
    assert said["single_precision"] == "yes: the model and what it is given are float32"
    assert (seen["hidden"], seen["output"]) == ("torch.float32", "torch.float64")
    assert seen["loss"] == pytest.approx(own["loss"], rel=1e-5) and seen["loss"] != own["loss"]
    _, said = ran(inject, ["single_precision"])
    assert said["single_precision"] == "no: it is so already, by the script or by default"


DISTRIBUTED = """
import json, sys, tempfile
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return iter(torch.arange(4.0))

store = torch.distributed.FileStore(tempfile.mktemp(), 1)
torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
own = {"bucket_cap_mb": 7} if "good" in sys.argv else {}
net = DistributedDataParallel(nn.Linear(4, 2), **own)
for _ in range(3):
    net(torch.randn(3, 4)).sum().backward()
seen = {"buckets": net.bucket_bytes_cap >> 20, "static": net.static_graph, "view": net.gradient_as_bucket_view}
seen["stream"] = [float(batch) for batch in DataLoader(Stream())]
torch.distributed.destroy_process_group()
print(json.dumps({"seen": seen, "said": sys.modules["traceview_inject.times"].SEEN}))
"""


UNGUARDED = """
import json, multiprocessing, sys
from torch.utils.data import DataLoader
multiprocessing.set_start_method("spawn")
loader = DataLoader([1.0, 2.0])
seen = {"rows": [float(row) for row in loader], "workers": loader.num_workers}
print(json.dumps({"seen": seen, "said": sys.modules["traceview_inject.times"].SEEN}))
"""


@pytest.mark.slow
def test_a_script_that_workers_would_run_again_gets_none(inject) -> None:
    seen, said = ran(inject, ["loader_workers"], program=UNGUARDED)
    assert seen == {"rows": [1.0, 2.0], "workers": 0}
    assert said["loader_workers"].startswith("no: workers start by spawn, for which the script needs `if __name__")


CHANGED = """
import json, sys
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    scale = 1.0
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return self.scale * index

if __name__ == "__main__":
    numbers, epochs = Numbers(), []
    loader = DataLoader(numbers, batch_size=4)
    for numbers.scale in (1.0, 10.0):
        epochs += [batch.tolist() for batch in loader]
    seen = {"epochs": epochs, "workers": loader.num_workers}
    print(json.dumps({"seen": seen, "said": sys.modules["traceview_inject.times"].SEEN}))
"""


@pytest.mark.slow
def test_workers_load_the_data_set_of_each_epoch(inject) -> None:
    seen, said = ran(inject, ["loader_workers"], program=CHANGED)
    assert seen["workers"] > 0 and said["loader_workers"].startswith("yes: ")
    assert seen["epochs"] == [[0.0, 1.0, 2.0, 3.0], [0.0, 10.0, 20.0, 30.0]]


@pytest.mark.long
def test_distributed_models_and_streams_of_data(inject) -> None:
    tried = ["ddp_large_buckets", "ddp_static_graph", "ddp_bucket_view", "loader_workers"]
    seen, said = ran(inject, tried, program=DISTRIBUTED)
    assert (seen["buckets"], seen["static"], seen["view"]) == (100, True, True)
    assert seen["stream"] == [0.0, 1.0, 2.0, 3.0], "no worker reads it again"
    assert said["loader_workers"].startswith("no: every worker would read")
    assert said["ddp_large_buckets"] == "yes: DistributedDataParallel made with bucket_cap_mb=100"
    seen, said = ran(inject, ["ddp_small_buckets"], "good", program=DISTRIBUTED)
    assert seen["buckets"] == 7 and said["ddp_small_buckets"] == "no: the script sets bucket_cap_mb=7"


COMPILED = """
import json, sys
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
if "good" in sys.argv:
    net.compile(backend="eager")
for _ in range(3):
    loss = net(torch.ones(4, 8)).sum()
    loss.backward()
print(json.dumps({"seen": {"loss": loss.item()}, "said": sys.modules["traceview_inject.times"].SEEN}))
"""


@pytest.mark.long
def test_a_model_is_compiled_by_the_real_compiler(inject) -> None:
    if "compiler" not in options.installed():
        pytest.skip("there is no C++ compiler")
    seen, said = ran(inject, ["compiled"], program=COMPILED)
    assert said["compiled"] == "yes: 1 graphs"
    own, refused = ran(inject, ["compiled"], "good", program=COMPILED)
    assert refused["compiled"] == "no: it is so already, by the script or by default"
    assert seen["loss"] == pytest.approx(own["loss"], rel=1e-5)


def test_every_hook_of_the_table_is_a_function_and_the_other_way_round() -> None:
    folder = Path(__file__).parents[3] / "collectors" / "inject"
    for framework in ("torch", "tensorflow", "onnxruntime"):
        text = (folder / "traceview_inject" / f"options_{framework}.py").read_text(encoding="utf-8")
        defined = set(re.findall(r"(?m)^def (\w+)\(say\):", text))
        assert defined == {row.hook for row in options.load() if row.hook and row.framework == framework}
