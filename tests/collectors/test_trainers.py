"""Trainers that people use, and loops that are no plain ones, under `collect`: recorded steps are whole."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path

import duckdb
import pytest
from asked import rows
from framework_programs import PYTHON, QUIET, ROOT, described, need, opened, program, run

from traceview import store

LIGHTNING = """
import warnings; warnings.simplefilter("ignore")
import lightning, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 900, 10))
    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def validation_step(self, batch, index):
        nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

data = TensorDataset(torch.randn(96, 3, 32, 32), torch.randint(0, 10, (96,)))
trainer = lightning.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, val_check_interval=4, accumulate_grad_batches=ACCUMULATE)
trainer.fit(Model(), DataLoader(data, batch_size=8), DataLoader(data, batch_size=32))
print(trainer.global_step)
"""
TRANSFORMERS = """
import tempfile, torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

config = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=200)
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 96
    def __getitem__(self, i):
        return {"input_ids": torch.randint(0, 200, (32,)), "labels": torch.tensor(i % 2)}

with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=8, max_steps=12, report_to=[], use_cpu=True, save_strategy="no",
        eval_strategy="steps", eval_steps=4, disable_tqdm=True, logging_strategy="no")
    model = BertForSequenceClassification(config)
    done = Trainer(model=model, args=arguments, train_dataset=Data(), eval_dataset=Data()).train()
print(done.global_step)
"""
ACCELERATE = """
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 900, 10))
data = torch.utils.data.TensorDataset(torch.randn(192, 3, 32, 32), torch.randint(0, 10, (192,)))
loader = torch.utils.data.DataLoader(data, batch_size=8)
model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), loader)
done = 0
for x, y in loader:
    with accelerator.accumulate(model):
        accelerator.backward(nn.functional.cross_entropy(model(x), y))
        optimizer.step()
        optimizer.zero_grad()
        done += accelerator.sync_gradients
print(done)
"""
GAN = """
import torch
from torch import nn

maker, judge = (nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, m)) for n, m in ((16, 32), (32, 1)))
of_maker, of_judge = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
for _ in range(12):
    z = torch.randn(32, 16)
    of_judge.zero_grad()
    (judge(torch.randn(32, 32)) - judge(maker(z).detach())).mean().backward()
    of_judge.step()
    of_maker.zero_grad()
    (-judge(maker(z)).mean()).backward()
    of_maker.step()
print(12)
"""
LBFGS = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)
x, y = torch.randn(64, 16), torch.randn(64, 1)
for _ in range(12):
    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        return loss
    optimizer.step(closure)
print(12)
"""
COMPILED = """
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 900, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

@torch.compile
def loss_of(x):
    hidden = model[1](model[0](x))
    if hidden.sum().item() > 1e9:  # A graph break.
        print("never")
    return model[3](model[2](hidden)).float().square().mean()

for _ in range(12):
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        loss = loss_of(torch.randn(8, 3, 32, 32))
    loss.backward()
    optimizer.step()
print(12)
"""
PROFILED = """
import time
import torch.profiler

class Clock(lightning.Callback):
    def on_train_batch_start(self, *given):
        self.begin = time.perf_counter_ns()
    def on_train_batch_end(self, *given):
        times.append(time.perf_counter_ns() - self.begin)

times = []
trainer.callbacks.append(Clock())
torch.set_num_threads(1)
with torch.profiler.profile() as profiler:
    trainer.fit(Model(), DataLoader(data, batch_size=8), DataLoader(data, batch_size=32))
profiler.export_chrome_trace("trace.json")
print(*times)
"""
PARTS = """
    SELECT s.step, count(*) FILTER (r.name = 'backward') AS backwards
    FROM steps s JOIN ranges r ON r.rank = s.rank AND r.start_ns >= s.start_ns AND r.end_ns <= s.end_ns
    GROUP BY s.step ORDER BY 1
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "needs", "backwards", "updates"),
    [
        (LIGHTNING.replace("ACCUMULATE", "1"), ("lightning",), 1, 24),
        (LIGHTNING.replace("ACCUMULATE", "2"), ("lightning",), 2, 12),
        (TRANSFORMERS, ("transformers", "accelerate"), 1, 12),
        (ACCELERATE, ("accelerate",), 2, 12),
        (GAN, ("torch",), 2, 12),
        (LBFGS, ("torch",), 4, 12),
        (COMPILED, ("torch",), 1, 12),
    ],
    ids=["lightning", "lightning-accumulates", "transformers", "accelerate", "gan", "lbfgs", "compiled"],
)
def test_every_recorded_step_is_whole(
    tmp_path: Path, body: str, needs: tuple[str, ...], backwards: int, updates: int
) -> None:
    need(*needs)
    done = run(tmp_path, program(tmp_path, body))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, str(updates)), done.stderr
    about = described(tmp_path)
    assert about["steps"]["source"] == "optimizer" and about["cost"]["bare_steps"] >= 3
    with opened(tmp_path) as connection:
        found = rows(connection, PARTS)
    assert found == [(step, backwards) for step in (3, 4, 5)]


@pytest.mark.long
def test_output_and_exit_code_of_a_trainer_are_its_own(tmp_path: Path) -> None:
    need("lightning")
    path = program(tmp_path, LIGHTNING.replace("ACCUMULATE", "1") + "raise SystemExit(3)\n")
    bare = subprocess.run([PYTHON, path], cwd=tmp_path, capture_output=True, text=True)
    done = run(tmp_path, path)
    assert (done.returncode, done.stdout) == (3, bare.stdout)


@pytest.mark.long
def test_steps_of_a_trainer_that_its_user_profiled_are_those_that_it_times(tmp_path: Path) -> None:
    """Without `collect`: forward and backward passes run inside of the optimizer's range, a validation after each
    fourth step. Nothing of both is the optimizer's, nothing of the validation a step's."""
    need("lightning")
    body = LIGHTNING.replace("ACCUMULATE", "1").replace("max_epochs=2", "max_epochs=1")
    path = program(tmp_path, body[: body.index("trainer.fit")] + PROFILED)
    done = subprocess.run([PYTHON, path], cwd=tmp_path, capture_output=True, text=True, check=True)
    own = [int(word) for word in done.stdout.splitlines()[-1].split()]
    store.convert([tmp_path / "trace.json"], tmp_path / "capture")
    with opened(tmp_path) as connection:
        steps = rows(connection, "SELECT dur_ns, found_by FROM steps ORDER BY step")
        inside = "SELECT count(*) FROM ops WHERE category = 'optimizer' AND regexp_matches(name, 'conv|ackward')"
        assert rows(connection, inside) == [(0,)]
    assert len(steps) == len(own) - 1 == 11
    assert "2 of them from their own batch on" in steps[0][1]
    # A step begins with loading its batch, which the trainer's own clock leaves out.
    assert 0.95 < statistics.median(dur / one for (dur, _), one in zip(steps, own[1:], strict=True)) < 2


TRAINERS = ROOT / "tests" / "trainers"
UNPICKLED = ("aten::empty", "aten::set_")
"""Batches of workers are unpickled when they come."""
COUNTED = f"""
    SELECT o.name, count(*) FROM ops o LEFT JOIN ops p ON p.id = o.parent_id
    LEFT JOIN (SELECT parent_id, count(*) AS n FROM ops GROUP BY 1) c ON c.parent_id = o.parent_id
    WHERE o.name LIKE 'aten::%' AND o.name NOT IN {UNPICKLED}
        AND NOT coalesce(p.name = o.name AND c.n = 1, false) -- torch.profiler counts such a pair once.
    GROUP BY 1
"""
SLACK_NS = 1_000_000
"""A profiler's clock and the system's are set against each other once."""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needs", "backwards", "per_update"),
    [
        ("lightning_gan", ("lightning",), 2, 2),
        ("transformers_gpt2", ("transformers", "accelerate"), 3, 1),
        ("amp_and_workers", ("torch",), 1, 1),
        ("timm_script", ("timm", "torchvision"), 1, 1),
        ("torchvision_script", ("torchvision",), 1, 1),
    ],
)
def test_pytorchs_trainers_by_their_own_timers_and_torch_profiler(
    tmp_path: Path, name: str, needs: tuple[str, ...], backwards: int, per_update: int
) -> None:
    """Steps end where the program's own timer says, and hold what torch.profiler counts there without us."""
    need(*needs)
    connection = timed_run(tmp_path, TRAINERS / f"{name}.py")
    assert rows(connection, PARTS) == [(step, backwards) for step in (3, 4, 5)]
    words = [PYTHON, TRAINERS / "operators_of.py", per_update, 3, 6, TRAINERS / f"{name}.py"]
    bare = subprocess.run([*map(str, words)], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **QUIET})
    assert bare.returncode == 0, bare.stderr
    counted = json.loads(bare.stdout.splitlines()[-1])
    assert dict(rows(connection, COUNTED)) == {key: n for key, n in counted.items() if key not in UNPICKLED}
    validated = rows(connection, "SELECT count(*) FROM ops WHERE step IS NULL AND name = 'aten::linear'")[0][0]
    assert (validated > 0) == (name in ("transformers_gpt2", "amp_and_workers")), "what is validated is in no step"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "words", "backwards"),
    [("fsdp2", ["-m", "torch.distributed.run", "--nproc_per_node", "2"], 1), ("spawned_ddp", [], 2)],
)
def test_both_ranks_of_a_job(tmp_path: Path, name: str, words: list[str], backwards: int) -> None:
    need("torch")
    connection = timed_run(tmp_path, *words, TRAINERS / f"{name}.py")
    ranks = (
        "SELECT rank, step, backwards FROM ("
        + PARTS.replace("s.step,", "s.rank, s.step,").replace("GROUP BY s.step", "GROUP BY s.rank, s.step")
        + ") ORDER BY 1, 2"
    )
    assert rows(connection, ranks) == [(rank, step, backwards) for rank in (0, 1) for step in (3, 4, 5)]
    collectives = rows(connection, "SELECT rank, count(*) > 0 FROM collectives GROUP BY 1 ORDER BY 1")
    assert collectives == [(0, True), (1, True)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "needs", "backend", "parameters", "source"),
    [
        ("flax_nnx", ("flax", "optax"), "jax", 26_730, "optimizer"),
        ("flax_linen", ("flax", "optax"), "jax", 34_058, "optimizer"),
        ("keras_fit", ("keras", "tensorflow", "torch"), "torch", 2_053, "optimizer"),
        ("keras_fit", ("keras", "tensorflow"), "tensorflow", 2_053, "optimizer"),
        ("keras_fit", ("keras", "tensorflow", "jax"), "jax", 2_053, "optimizer"),
        ("tensorflow_loop", ("tensorflow", "keras"), "tensorflow", 55_050, "optimizer"),
        ("tensorflow_strategy", ("tensorflow",), "tensorflow", 64, "optimizer"),
        ("onnxruntime_sessions", ("onnxruntime", "onnx"), "onnxruntime", None, "forward"),
    ],
)
def test_trainers_of_other_frameworks_by_their_own_timers(
    tmp_path: Path, name: str, needs: tuple[str, ...], backend: str, parameters: int | None, source: str
) -> None:
    need(*needs)
    connection = timed_run(tmp_path, TRAINERS / f"{name}.py", KERAS_BACKEND=backend)
    about = described(tmp_path)
    assert (about["framework"], about["steps"]["source"]) == (backend, source)
    assert about["model"]["parameters"] == parameters
    tested = "SELECT count(*) FROM ops WHERE step IS NOT NULL AND regexp_matches(name, '(eval|test)_step')"
    assert rows(connection, tested) == [(0,)]
    if backend == "jax":
        once = "SELECT count(DISTINCT step) FROM ops WHERE regexp_matches(name, 'train_step')"
        assert rows(connection, once) == [(3,)]
    if name == "flax_linen":
        modules = {path for (path,) in rows(connection, "SELECT path FROM modules")}
        assert {"Net", "Net/block0/up", "Net/block1/down", "Net/head"} <= modules
    if name.startswith("flax"):
        lines = "SELECT count(s.op_id) / count(*) FROM ops o LEFT JOIN source_lines s ON s.op_id = o.id"
        assert rows(connection, lines + " WHERE o.name LIKE 'jit(train_step)%'")[0][0] > 0.8


def timed_run(folder: Path, *words: object, **variables: str) -> duckdb.DuckDBPyConnection:
    """Collect a program of tests/trainers; its recorded steps end while its own timer saw them end."""
    done = run(folder, *words, **variables)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["steps"] == 12
    about = described(folder)
    assert about["steps"]["recorded"] == 3 and about["cost"]["bare_steps"] >= 5
    connection = opened(folder)
    ended = rows(
        connection,
        "SELECT s.step, c.origin_unix_ns + s.end_ns FROM steps s JOIN (SELECT rank, any_value(origin_unix_ns) AS "
        "origin_unix_ns FROM captures GROUP BY rank) c ON c.rank = s.rank WHERE s.rank = 0 ORDER BY 1",
    )
    # ONNX Runtime's trace does not number its runs.
    assert [step for step, _ in ended] == ([0, 1, 2] if about["framework"] == "onnxruntime" else [3, 4, 5])
    for step, (_, at) in enumerate(ended, 3):
        begin, end = told["ends"][step]
        assert begin <= at <= end + SLACK_NS, (step, at - begin, end - at)
    return connection
