"""Real PyTorch programs under the collector: what is recorded, and that they run as they do without it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Programs of their own import it: where nothing here does, no worker has to.
pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")

TRAINING = """
import ctypes, subprocess
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    libc = ctypes.CDLL(None)
    data = TensorDataset(torch.randn(40, 3, 16, 16), torch.zeros(40, dtype=torch.long))
    model = Net()
    optimizer, criterion = sgd(model), nn.CrossEntropyLoss()
    for x, y in DataLoader(data, batch_size=4, num_workers=2):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.6f}", end="", flush=True)
        print("x" * 100_000, flush=True)
        os.write(1, b"descriptor\\n")
        libc.printf(b"from C\\n")
        subprocess.run(["echo", "child"])
    print(sys.stdout.isatty(), sys.stdout.fileno(), [p for p in sys.path if "traceview" in p or "inject" in p])
"""

STEP_OF_TRAINING = [
    "traceview.phase: data",
    "traceview.phase: forward",
    "traceview.module: Net (Net)",
    "traceview.module: conv1 (Conv2d)",
    "traceview.module: block (Sequential)",
    "traceview.module: block.0 (ReLU)",
    "traceview.module: block.1 (Conv2d)",
    "traceview.module: fc (Linear)",
    "traceview.phase: forward",
    "traceview.module: CrossEntropyLoss (CrossEntropyLoss)",
    "traceview.phase: backward",
    "traceview.phase: optimizer",
]


def ours(names):
    """The collector's own ranges among all annotations."""
    return [name for name in names if name.startswith(("traceview.", "ProfilerStep#"))]


@pytest.fixture(scope="module")
def training(run_program, tmp_path_factory):
    """One training program, run once under the collector."""
    return run_program(tmp_path_factory.mktemp("training"), TRAINING)


@pytest.mark.long
def test_training_with_forked_loader_workers(training):
    assert (training.code, training.stderr, training.ranks()) == (0, "", 1)
    expected = [name for step in (4, 5, 6, 7) for name in (f"ProfilerStep#{step}", *STEP_OF_TRAINING)]
    assert ours(training.names()) == expected
    spans = [event for event in training.events() if event.get("cat") == "user_annotation"]
    assert all(span["args"].get("finished", True) for span in spans)
    assert any("Input Dims" in event.get("args", {}) for event in training.events())
    assert training.meta()["loaders"] == [
        {
            "workers": 2,
            "prefetch_factor": 2,
            "pin_memory": False,
            "persistent_workers": False,
            "batch": 4,
            "trains": True,
            "batches": 4,
        }
    ]


@pytest.mark.long
def test_output_of_every_kind_stays_as_it_is(training, program):
    assert training.stdout == program(TRAINING, is_collected=False).stdout


LINES = """
import time

class Slow(Net):
    def forward(self, x):
        x = self.conv1(x)
        time.sleep(0.02)  # slept here
        return self.fc(x.mean((2, 3)).repeat(1, 144))  # mean here

model = Slow()
optimizer = sgd(model)
for _ in range(9):
    optimizer.zero_grad()
    model(images()).sum().backward()
    optimizer.step()
"""


@pytest.mark.long
def test_with_stacks_each_line_is_marked(run_program, tmp_path):
    ran = run_program(tmp_path, LINES, stacks=1)
    assert (ran.code, ran.stderr) == (0, "")
    marks = [event for event in ran.events() if event.get("name", "").startswith("traceview.line: ")]
    source = (tmp_path / "program.py").read_text().splitlines()
    asleep = 1 + next(n for n, line in enumerate(source) if "# slept here" in line)
    slept = [event["dur"] for event in marks if event["name"].endswith(f"({asleep}): forward")]
    assert len(slept) == 4 and min(slept) >= 20_000
    means = [event for event in ran.events() if event.get("name") == "aten::mean"]
    inner = [event for event in marks if event["name"].endswith(f"({asleep + 1}): forward")]
    assert len(means) == 4
    assert all(any(m["ts"] <= e["ts"] <= m["ts"] + m["dur"] for m in inner) for e in means)


@pytest.mark.slow
def test_facts_of_a_rank(training):
    meta = training.meta()
    assert meta["model"]["parameters"] == 8 * 27 + 8 + 8 * 72 + 8 + 8 * 144 * 10 + 10
    assert (meta["model"]["name"], meta["model"]["batch"]) == ("Net", 4)
    assert meta["model"]["input"]["memory_format"] == "contiguous"
    assert (meta["rank"], meta["world_size"], meta["threads"]) == (0, 1, 1)
    assert meta["steps"] == {"source": "optimizer", "first": 4, "recorded": 4, "between": []}
    # Two before the recording, and of the two after it the one whose caches are warm again.
    assert (meta["cost"]["bare_steps"], meta["cost"]["profiled_steps"]) == (3, 4)
    assert meta["cost"]["bare_step_ns"] > 0 and meta["cost"]["profiled_step_ns"] > 0
    assert meta["ended_by"] == "complete"
    assert meta["environment"]["OMP_NUM_THREADS"] == "1"
    assert "PATH" not in meta["environment"] and "HOME" not in meta["environment"]


@pytest.mark.slow
def test_onednn_account_covers_the_recorded_steps_alone(training):
    log = training.raw / "rank-0000.onednn.log"
    if not log.exists():
        pytest.skip("this torch runs no oneDNN here")
    lines = log.read_text().splitlines()
    assert all(line.startswith("onednn_verbose,") for line in lines)
    assert any("template:timestamp" in line for line in lines)
    forward = [line for line in lines if ",exec,cpu,convolution," in line and "forward" in line]
    assert len(forward) == 4 * 2
    assert training.meta()["onednn_version"].startswith("v")


@pytest.mark.long
def test_inference_counts_calls_of_the_outermost_module(program):
    body = """
model = Net().eval()
with torch.inference_mode():
    for _ in range(9):
        model(images())
"""
    ran = program(body)
    assert ran.steps() == ["4", "5", "6", "7"]
    assert ran.meta()["steps"]["source"] == "forward"
    assert "traceview.phase: forward" in ran.names() and "traceview.phase: backward" not in ran.names()


@pytest.mark.slow
@pytest.mark.parametrize("passes", [3, 6, 10, 60])
def test_an_evaluation_before_the_optimizer_is_made_gives_way_to_training(program, passes):
    """As in fine-tuning: steps were batches of the evaluation, and training was not recorded."""
    body = f"""
model = Net()
with torch.no_grad():
    for _ in range({passes}):
        model.eval()(images())
train(model.train(), sgd(model), 10)
"""
    ran = program(body)
    assert (ran.code, ran.stderr, ran.ranks()) == (0, "", 1)
    assert ran.steps() == ["4", "5", "6", "7"] and ran.names().count("traceview.phase: backward") == 4
    assert ran.meta()["steps"]["source"] == "optimizer"


@pytest.mark.slow
@pytest.mark.parametrize("passes", [3, 60])
def test_backward_passes_end_the_steps_of_a_program_that_updates_by_itself(program, passes):
    """Steps were batches of the validation before it, of which one comes after six of training, too."""
    body = f"""
model = Net()

def validate(n):
    with torch.no_grad():
        for _ in range(n):
            model.eval()(images())
    model.train()

validate({passes})
for number in range(12):
    model(images()).sum().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
    if number == 5:
        validate(2)
"""
    ran = program(body)
    assert (ran.code, ran.stderr, ran.steps()) == (0, "", ["4", "5", "6", "7"])
    steps = ran.meta()["steps"]
    assert (steps["source"], len(steps["between"])) == ("backward", 1)
    assert ran.names().count("traceview.phase: backward") == 4


@pytest.mark.slow
def test_a_gradient_within_a_models_call_ends_no_step(program):
    """Forces are gradients of an energy, of which a model of molecules gives both."""
    body = """
class Forces(nn.Module):
    def __init__(self):
        super().__init__()
        self.energy = Net()

    def forward(self, x):
        x.requires_grad_()
        return torch.autograd.grad(self.energy(x).sum(), x)[0]

model = Forces().eval()
for _ in range(9):
    model(images())
"""
    ran = program(body)
    assert (ran.code, ran.stderr, ran.steps()) == (0, "", ["4", "5", "6", "7"])
    assert ran.meta()["steps"]["source"] == "forward"


@pytest.mark.slow
def test_the_profiler_imports_the_compiler_as_an_optimizer_does(program):
    """By another door, in another thread, it met the program's own import half way: that ended in an ImportError."""
    body = """
class Watched:
    def find_spec(self, name, *rest):
        if name in ("torch._dynamo", "torch._inductor"):
            print(name)

sys.meta_path.insert(0, Watched())
model = Net()
for _ in range(4):
    model(images())
"""
    assert program(body).stdout == b"torch._dynamo\ntorch._inductor\n"


@pytest.mark.long
def test_two_optimizers_make_one_step(program):
    body = """
class Other(Net):
    pass

one, two = Net(), Other()
first, second = sgd(one), sgd(two)
for _ in range(9):
    train(one, first, 1)
    train(two, second, 1)
"""
    ran = program(body, steps=2)
    assert ran.steps() == ["4", "5"]
    assert ran.names().count("traceview.phase: optimizer") == 4
    assert {"traceview.module: fc (Linear)", "traceview.module: Other.fc (Linear)"} <= set(ran.names())


@pytest.mark.slow
def test_optimizers_that_step_in_the_backward_pass_make_one_step_of_each(program):
    """The profiler was started and stopped among the autograd engine's own callbacks, which ended by SIGSEGV."""
    body = """
model = Net()
optimizers = {each: torch.optim.SGD([each], lr=0.1) for each in model.parameters()}
for each, own in optimizers.items():
    each.register_post_accumulate_grad_hook(lambda _, own=own: own.step())
for _ in range(9):
    model(images()).sum().backward()
"""
    ran = program(body)
    assert (ran.code, ran.stderr, ran.steps()) == (0, "", ["4", "5", "6", "7"])
    one = ["traceview.phase: backward", *["traceview.phase: optimizer"] * 6]
    assert [name for name in ours(ran.names()) if name.endswith(("backward", "optimizer"))] == one * 4
    assert ran.meta()["model"]["parameters"] == 12338 and ran.meta()["untrained"] == []


@pytest.mark.slow
def test_an_iteration_whose_update_a_scaler_leaves_out_is_a_step(program):
    """It was a part of the next one, which had two forward and two backward passes."""
    body = """
model, scaler = Net(), torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer = sgd(model)
for step in range(9):
    optimizer.zero_grad()
    scaler.scale(model(images()).sum() * (float("inf") if step % 2 else 1.0)).backward()
    scaler.step(optimizer)
    scaler.update(1024.0)
"""
    ran = program(body)
    assert (ran.code, ran.stderr) == (0, "")
    one = ["traceview.phase: forward", "traceview.phase: backward"]
    whole, left_out = [*one, "traceview.phase: optimizer"], one
    names = [name for name in ours(ran.names()) if not name.startswith("traceview.module: ")]
    expected = zip(("4", "5", "6", "7"), (whole, left_out) * 2, strict=True)
    assert names == [name for number, phases in expected for name in (f"ProfilerStep#{number}", *phases)]


@pytest.mark.slow
def test_a_recording_that_another_thread_began_is_given_up(program):
    """Stopped from the main thread, the profiler had nothing to write, and ended the program by SIGSEGV."""
    body = """
import threading

done = threading.Event()

def run():
    model = Net()
    train(model, sgd(model), 6)
    done.set()
    time.sleep(600)

threading.Thread(target=run, daemon=True).start()
done.wait()
"""
    ran = program(body)
    assert (ran.code, ran.ranks()) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("validated", [pytest.param("model", marks=pytest.mark.long), "averaged"])
def test_validation_between_steps_is_in_none(program, validated):
    """The step after it was as long as both; what comes before every step is part of it."""
    body = """
model, teacher, averaged = Net(), Net(), Net().eval()
optimizer = sgd(model)
for step in range(9):
    with torch.no_grad():
        teacher(images())
        if step == 5:
            for _ in range(3):
                VALIDATED(images())
                time.sleep(0.1)
            VALIDATED(images())
    train(model, optimizer, 1)
"""
    ran = program("import time\n" + body.replace("VALIDATED", validated))
    assert ran.steps() == ["4", "5", "6", "7"]
    meta = ran.meta()
    ((start, end),) = meta["steps"]["between"]
    assert end - start > 300_000_000
    assert meta["cost"]["profiled_step_ns"] < 300_000_000


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "n"), [("eval", 2), ("train", 0)])
def test_a_validation_between_gradients_that_add_up_is_counted(program, mode, n):
    """It runs twice each seventh pass, of which three make a step: the recorded ones are passes 12 to 23. A guess
    before the first backward pass of each step, as for labels of images without one, is part of it."""
    body = """
model = Net()
optimizer = sgd(model)
for number in range(27):
    model.eval()
    with torch.no_grad():
        if number % 3 == 0:
            model(images())
    model.train()
    model(images()).sum().backward()
    if number % 7 == 0:
        model.MODE()
        with torch.no_grad():
            model(images())
            model(images())
    if number % 3 == 2:
        optimizer.step()
        optimizer.zero_grad()
"""
    ran = program(body.replace("MODE", mode))
    assert ran.steps() == ["4", "5", "6", "7"]
    assert ran.meta()["validated"] == 2 * n


@pytest.mark.slow
def test_what_runs_without_gradients_in_some_steps_is_between_them_only_if_it_is_a_copy(program):
    body = """
model, teacher, frozen = Net(), nn.Conv2d(3, 4, 3), Net().requires_grad_(False)
optimizer = sgd(model)
for step in range(9):
    if step % 2:
        with torch.no_grad():
            teacher(images())
    if step == 6:
        frozen(images())  # Without gradients, too, although they are not turned off.
    train(model, optimizer, 1)
"""
    assert len(program(body).meta()["steps"]["between"]) == 1


@pytest.mark.long
def test_the_programs_own_word_wins(program):
    body = """
model = Net()
optimizer = sgd(model)
for _ in range(12):
    train(model, optimizer, 5)
    sys.audit("traceview.step")
"""
    ran = program(body, steps=2)
    assert ran.meta()["steps"] == {"source": "call", "first": 4, "recorded": 2, "between": []}
    assert ran.names().count("traceview.phase: optimizer") == 10


@pytest.mark.slow
def test_requests_that_a_program_marks_hold_all_of_their_models(program):
    body = """
first, second = Net(), Net()
for request in range(9):
    with torch.inference_mode():
        first(images())
        if request % 3 == 0:
            second(images())
    sys.audit("traceview.step")
"""
    assert program(body).meta()["steps"] == {"source": "call", "first": 4, "recorded": 4, "between": []}


@pytest.mark.long
def test_steps_from_the_very_first_one(program):
    ran = program("model = Net()\ntrain(model, sgd(model), 1)", wait=0, warmup=0, steps=1)
    assert ran.steps() == ["0"]
    assert ran.meta()["cost"]["bare_step_ns"] is None


@pytest.mark.long
def test_light_has_phases_but_no_layers_and_no_shapes_and_stop_after_ends_the_program(program):
    ran = program("model = Net()\ntrain(model, sgd(model), 10**9)", light=1, stop_after=1)
    assert (ran.code, ran.steps()) == (0, ["4", "5", "6", "7"])
    assert "traceview.phase: backward" in ran.names()
    assert not any(name.startswith("traceview.module") for name in ran.names())
    assert not any("Input Dims" in event.get("args", {}) for event in ran.events())


@pytest.mark.long
def test_exceptions_in_forward_are_the_programs_own(program):
    body = """
class Moody(nn.Module):
    def forward(self, x):
        raise ValueError("not now")

class Careful(Net):
    def __init__(self):
        super().__init__()
        self.moody = Moody()
    def forward(self, x):
        try:
            self.moody(x)
        except ValueError:
            pass
        return super().forward(x)

model = Careful()
train(model, sgd(model), 9)
model.moody(images())
"""
    ran = program(body)
    assert ran.code == 1 and ran.stderr.endswith("ValueError: not now\n")
    assert ran.steps() == ["4", "5", "6", "7"]
    assert ran.names().count("traceview.module: moody (Moody)") == 4


@pytest.mark.long
def test_a_traceback_shows_the_programs_frames_alone(program):
    body = """
class Broken(Net):
    def forward(self, x):
        try:
            return super().forward(x[0])
        except RuntimeError as error:
            raise ValueError("no image") from error

Broken()(images())
"""
    collected, bare = program(body), program(body, is_collected=False)
    assert (collected.code, collected.stderr) == (1, bare.stderr)
    assert "no image" in bare.stderr and "The above exception was the direct cause" in bare.stderr


@pytest.mark.long
def test_a_traceback_of_the_loader_is_the_programs_own(program):
    body = "import torch.utils.data as data\n\nfor batch in data.DataLoader([1, 'a'], batch_size=2):\n    pass"
    assert program(body).stderr == program(body, is_collected=False).stderr


@pytest.mark.long
def test_a_crash_in_training_keeps_what_was_recorded(program):
    ran = program("def boom(step):\n    1 / (6 - step)\n\nmodel = Net()\ntrain(model, sgd(model), 9, boom)")
    assert ran.code == 1 and "ZeroDivisionError" in ran.stderr
    assert ran.steps() == ["4", "5", "6"]
    assert "traceview.cut: step 7" in ran.names()
    assert (ran.meta()["ended_by"], ran.meta()["steps"]["recorded"]) == ("exit", 3)


@pytest.mark.long
def test_sigterm_saves_and_still_ends_the_process(program):
    body = """
import signal
model = Net()
train(model, sgd(model), 9, lambda step: step == 5 and os.kill(os.getpid(), signal.SIGTERM))
"""
    ran = program(body)
    assert (ran.code, ran.steps(), ran.meta()["ended_by"]) == (-15, ["4", "5"], "SIGTERM")


@pytest.mark.long
def test_forked_children_record_their_own_steps(program):
    body = """
import multiprocessing

def child(steps):
    model = Net()
    train(model, sgd(model), steps)

def fork_one(step):
    if step == 5:  # in the middle of the parent's recording
        pid = os.fork()
        if not pid:
            child(20)
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7

fork = multiprocessing.get_context("fork")
workers = [fork.Process(target=child, args=(steps,)) for steps in (6, 9)]
for worker in workers:
    worker.start()
    worker.join()
model = Net()
train(model, sgd(model), 9, fork_one)
"""
    ran = program(body)
    assert (ran.code, ran.ranks()) == (0, 3)
    assert [ran.steps(rank) for rank in range(3)] == [["4", "5"], ["4", "5", "6", "7"], ["4", "5", "6", "7"]]
    assert len({ran.meta(rank)["pid"] for rank in range(3)}) == 3


@pytest.mark.slow
def test_a_child_that_is_forked_after_the_recording_ends_as_it_would_alone(program):
    body = """
model = Net()
train(model, sgd(model), 12)
pid = os.fork()
if not pid:
    print("kept by the child", end="")
    os.write(1, b"")
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    ran = program(body)
    assert (ran.code, ran.stdout) == (0, b"kept by the child7\n")


@pytest.mark.long
def test_the_programs_own_profiler_works(program):
    body = """
model = Net()
optimizer = sgd(model)
train(model, optimizer, 6)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
    train(model, optimizer, 3)
print(len([event for event in own.events() if event.name == "aten::conv2d"]))
"""
    ran = program(body)
    assert (ran.code, ran.stdout) == (0, b"6\n")
    assert ran.steps() == ["4", "5"]
    assert ran.meta()["ended_by"] == "the program's own profiler"


@pytest.mark.slow
def test_training_in_another_thread_leaves_the_recording_alone(program):
    """Its steps ended the recording, which PyTorch stops only in the thread that began it, and the program crashed."""
    body = """
import threading

model, other = Net(), Net()
optimizer, second = sgd(model), sgd(other)
train(model, optimizer, 5)
thread = threading.Thread(target=train, args=(other, second, 12))
thread.start()
thread.join()
train(model, optimizer, 9)
"""
    ran = program(body)
    assert (ran.code, ran.ranks()) == (0, 1)
    assert (ran.steps(), ran.meta()["ended_by"]) == (["4", "5", "6", "7"], "complete")


OWN_PROFILER = """
def count(own):
    print(len([event for event in own.events() if event.name == "aten::conv2d"]))

model = Net()
cpu = torch.profiler.ProfilerActivity.CPU
"""


@pytest.mark.slow
def test_a_profiler_of_the_program_that_warms_up_when_ours_would_start(program):
    """Both were in one session, and the program ended by SIGSEGV."""
    body = """
plan = torch.profiler.schedule(wait=3, warmup=1, active=2, repeat=1)
with torch.profiler.profile(activities=[cpu], schedule=plan) as own:
    train(model, sgd(model), 9, lambda step: own.step())
count(own)
"""
    ran = program(OWN_PROFILER + body)
    assert (ran.code, ran.stdout, "disableProfiler" in ran.stderr, ran.ranks()) == (0, b"4\n", False, 0)
    (note,) = ran.raw.glob(".process-*.txt")
    assert note.read_text().startswith("failed\nthe program runs torch.profiler itself: give its own trace to")


@pytest.mark.slow
def test_a_profiler_of_the_program_that_is_over_when_ours_would_start(program):
    body = """
def profile(step):
    if step == 2:
        with torch.profiler.profile(activities=[cpu]) as own:
            model(images())
        count(own)

train(model, sgd(model), 9, profile)
"""
    ran = program(OWN_PROFILER + body)
    assert (ran.code, ran.stdout, ran.steps()) == (0, b"2\n", ["4", "5", "6", "7"])


@pytest.mark.long
def test_compiled_models_stay_whole(program):
    body = """
import torch._dynamo.utils
model = Net()
compiled = torch.compile(model, backend="eager", fullgraph=True)
train(compiled, sgd(model), 12)
print(torch._dynamo.utils.counters["stats"]["unique_graphs"], len(torch._dynamo.utils.counters["graph_break"]))
"""
    ran = program(body)
    assert (ran.stdout, ran.stderr) == (b"1 0\n", "")
    assert ran.steps() == ["4", "5", "6", "7"]
    assert "traceview.phase: forward" in ran.names()


SCRIPTED = """
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv2d(8, 8, 1)

    def forward(self, x):
        return torch.tanh(self.inner(x)) * x

net = Net()
net.block[0] = torch.jit.script(Gate())
code = net.block[0].code
model = nn.DataParallel(net)
train(model, sgd(model), 12)
print(isinstance(net.block[0], torch.jit.ScriptModule), net.block[0].code == code, f"{net.fc.weight.sum().item():.6f}")
"""


@pytest.mark.long
def test_a_scripted_module_is_one_and_data_parallel_is_none(program):
    ran, alone = program(SCRIPTED), program(SCRIPTED, is_collected=False)
    assert (ran.code, ran.stdout) == (0, alone.stdout) and ran.stdout.startswith(b"True True ")
    modules = [name for name in ran.names() if name.startswith("traceview.module")]
    inside = [
        "conv1 (Conv2d)",
        "block (Sequential)",
        "block.0 (RecursiveScriptModule)",
        "block.1 (Conv2d)",
        "fc (Linear)",
    ]
    step = ["Net (Net)", *inside, "CrossEntropyLoss (CrossEntropyLoss)"]
    assert modules == [f"traceview.module: {name}" for name in step] * 4


@pytest.mark.long
def test_distributed_ranks_keep_their_numbers(program):
    body = """
import torch.distributed as dist

def worker(rank):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(Net())
    train(model, sgd(model), 9)
    dist.destroy_process_group()

if __name__ == "__main__":
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.multiprocessing.spawn(worker, nprocs=2)
"""
    ran = program(body)
    assert (ran.code, ran.ranks()) == (0, 2), ran.stderr
    for rank in (0, 1):
        assert (ran.meta(rank)["rank"], ran.meta(rank)["world_size"]) == (rank, 2)
        assert ran.steps(rank) == ["4", "5", "6", "7"]
        assert "traceview.module: conv1 (Conv2d)" in ran.names(rank)
    assert ran.meta(0)["pid"] != ran.meta(1)["pid"]
