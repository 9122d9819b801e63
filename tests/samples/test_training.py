"""The sample scripts train, with their options and the parameters they are known for.

The numbers are worked out once more here, from each layer's filter or weight; a published number stands beside its sum.
"""

from __future__ import annotations

import importlib
import itertools
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from promised import promised

torch = pytest.importorskip("torch")

SAMPLES = Path(__file__).parents[2] / "samples" / "training"


def conv(inputs: int, filters: int, size: int) -> int:
    """A convolution with its bias."""
    return filters * (inputs * size * size + 1)


def dense(inputs: int, outputs: int) -> int:
    """A product with its bias."""
    return outputs * (inputs + 1)


def chain(widths: list[int]) -> int:
    """Products one behind the other."""
    return sum(dense(a, b) for a, b in itertools.pairwise(widths))


def googlenet() -> int:
    """Szegedy et al. 2014, table 1: inputs and widths of each module's branches."""
    modules = [
        (192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64), (480, 192, 96, 208, 16, 48, 64),
        (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64), (512, 112, 144, 288, 32, 64, 64),
        (528, 256, 160, 320, 32, 128, 128), (832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128),
    ]  # fmt: skip
    total = conv(3, 64, 7) + conv(64, 64, 1) + conv(64, 192, 3) + dense(1024, 1000)
    for inputs, one, to3, three, to5, five, pool in modules:
        total += conv(inputs, one, 1) + conv(inputs, to3, 1) + conv(to3, three, 3)
        total += conv(inputs, to5, 1) + conv(to5, five, 5) + conv(inputs, pool, 1)
    return total


def resnet50() -> int:
    """He et al. 2015, table 1: filters without bias, two numbers per channel for each batch normalisation."""

    def normalised(inputs: int, filters: int, size: int) -> int:
        return filters * inputs * size * size + 2 * filters

    total, inputs = normalised(3, 64, 7) + dense(2048, 1000), 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        total += normalised(inputs, 4 * width, 1)
        for _ in range(blocks):
            total += normalised(inputs, width, 1) + normalised(width, width, 3) + normalised(width, 4 * width, 1)
            inputs = 4 * width
    return total


def inception() -> int:
    """Ioffe and Szegedy 2015 up to module 4d; each convolution with bias and batch normalisation."""

    def normalised(inputs: int, filters: int, size: int) -> int:
        return conv(inputs, filters, size) + 2 * filters

    modules = [
        (192, 64, 64, 64, 64, 96, 32), (256, 64, 64, 96, 64, 96, 64), (320, 0, 128, 160, 64, 96, 0),
        (576, 224, 64, 96, 96, 128, 128), (576, 192, 96, 128, 96, 128, 128), (576, 160, 128, 160, 128, 160, 96),
        (576, 96, 128, 192, 160, 192, 96),
    ]  # fmt: skip
    total = normalised(3, 64, 7) + normalised(64, 64, 1) + normalised(64, 192, 3) + dense(576, 1000)
    for inputs, one, to3, three, to33, twice, pool in modules:
        total += normalised(inputs, one, 1) + normalised(inputs, to3, 1) + normalised(to3, three, 3)
        total += normalised(inputs, to33, 1) + normalised(to33, twice, 3) + normalised(twice, twice, 3)
        total += normalised(inputs, pool, 1)
    return total


VGG_A = [(3, 64), (64, 128), (128, 256), (256, 256), (256, 512), (512, 512), (512, 512), (512, 512)]
OWT = [(3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3)]
COUNTS = {
    # module, function -> the sum over its layers, the published number
    ("alexnet_owt_torch", "alexnet_owt"): (
        sum(conv(*shape) for shape in OWT) + chain([9216, 4096, 4096, 1000]),
        61_100_840,
    ),
    ("vgg_a_torch", "vgg_a"): (
        sum(conv(*shape, 3) for shape in VGG_A) + chain([512 * 7 * 7, 4096, 4096, 1000]),
        132_863_336,
    ),
    ("googlenet_torch", "googlenet"): (googlenet(), 6_998_552),
    ("resnet50_torch", "resnet50"): (resnet50(), 25_557_032),
    ("lstm_torch", "MaskedLstm"): (10_000 * 128 + 4 * (256 * 128 + 128) + dense(128, 2), 1_411_842),
    ("framework_review_torch", "ann"): (chain([20, 64, 64, 10]), 6_154),
    ("framework_review_torch", "cnn"): (
        conv(3, 32, 3) + conv(32, 32, 3) + conv(32, 64, 3) + conv(64, 64, 3) + chain([64 * 22 * 22, 256, 10]),
        7_998_250,
    ),
    ("framework_review_torch", "inception"): (inception(), 4_851_048),
}


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """`sample(module)`: a script as a module, next to the one that it shares its loop with."""
    monkeypatch.syspath_prepend(SAMPLES)
    return importlib.import_module


@pytest.mark.parametrize(("place", "numbers"), COUNTS.items(), ids=lambda item: item[1] if len(item) == 2 else "")
def test_parameters_are_the_published_ones(sample, place, numbers):  # type: ignore[no-untyped-def]
    module = sample(place[0])
    with torch.device("meta"):  # Shapes without memory.
        model = getattr(module, place[1])()
    listed = module.timing.MODELS.get({"MaskedLstm": "lstm"}.get(place[1], place[1]))
    known = listed.parameters if listed else module.PARAMETERS
    known = known if isinstance(known, int) else known[place[1]]
    assert {sum(parameter.numel() for parameter in model.parameters()), known, *numbers} == {numbers[0]}


@pytest.mark.parametrize(
    ("size", "widths", "published"), [("small", [400, 200, 100], 415_310), ("large", [800, 1000, 2000], 3_451_010)]
)
def test_parameters_of_the_autoencoder(sample, size, widths, published):  # type: ignore[no-untyped-def]
    module = sample("autoencoder_torch")
    with torch.device("meta"):
        model = module.finetuning(module.timing.WIDTHS[size])
        parts = [module.Pretraining(module.timing.WIDTHS[size][: depth + 1]) for depth in (1, 2, 3)]
    counts = [sum(it.numel() for it in part.parameters()) for part in (model, *parts)]
    # Tied weights: a decoder has only a bias of its own, one number per input.
    frozen = [chain([784, *widths[:depth]]) for depth in range(4)]
    assert counts == [published, *(frozen[depth + 1] + [784, *widths][depth] for depth in range(3))]
    assert counts[0] == chain([784, *widths, 10]) == module.timing.AUTOENCODERS[size].parameters
    trained = [sum(it.numel() for it in part.parameters() if it.requires_grad) for part in parts]
    assert trained == [counts[depth + 1] - frozen[depth] for depth in range(3)]


@pytest.fixture
def run(sample, monkeypatch, capsys):  # type: ignore[no-untyped-def]
    """`run(name, *words, code=0)`: what a script prints, run in this process on a small batch and one thread."""
    threads = torch.get_num_threads()

    def run_script(name: str, *words: str, code: int = 0) -> tuple[str, str]:
        script = str(SAMPLES / f"{name}_torch.py")
        monkeypatch.setattr(sys, "argv", [script, "--batch", "2", "--threads", "1", *words])
        ended = 0
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as end:
            ended = end.code
        assert ended == code
        return capsys.readouterr()

    yield run_script
    torch.set_num_threads(threads)


def told(printed: tuple[str, str]) -> dict[str, Any]:
    """The last line of what is printed."""
    assert printed[1] == ""
    return promised(printed[0])


@pytest.mark.parametrize(
    "name",
    [
        "lenet",
        "autoencoder",
        pytest.param("lstm", marks=pytest.mark.long),
        pytest.param("alexnet", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "gradient", "train"])
def test_a_sample_does_what_its_mode_says(sample, run, name, mode):  # type: ignore[no-untyped-def]
    last = told(run(name, "--steps", "2", "--device", "cpu", "--mode", mode))
    assert last["parameters"] == sample("timing").MODELS[name].parameters
    assert (last["framework"], last["version"], last["threads"]) == ("torch", torch.__version__, 1)
    assert (last["model"], last["mode"], last["batch"], last["device"]) == (name, mode, 2, "cpu")
    assert last["layout"] == ("nchw" if name in ("lenet", "alexnet") else None)
    momentum = ", momentum 0.9" if name == "alexnet" else ""
    assert last["optimizer"] == (f"SGD, rate 0.01{momentum}" if mode == "train" else None)
    # Only training changes parameters, only a forward pass has no loss.
    assert last["updated"] == (mode == "train")
    assert (last["loss"] is None) == (mode == "forward")


@pytest.mark.long
def test_a_script_by_itself_leaves_steps_out_and_takes_threads_and_layout():
    words = ("--batch", "2", "--steps", "5", "--discard", "3", "--threads", "2", "--layout", "nhwc", "--device", "cpu")
    command = [sys.executable, str(SAMPLES / "lenet_torch.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    last = promised(done.stdout)
    assert (last["steps"], last["discarded"], last["threads"], last["layout"]) == (5, 3, 2, "nhwc")
    lines = done.stdout.splitlines()
    assert lines[0] == "lenet: 431080 parameters, batch 2, cpu, nhwc"
    assert lines[-2] == f"mean of 2 steps after the first 3: {last['mean_ms']:.2f} ms, sd {last['sd_ms']:.2f}"


def test_what_cannot_be_is_a_sentence(run):  # type: ignore[no-untyped-def]
    assert run("lenet", "--steps", "3", "--discard", "3", code=2) == ("", "--discard 3 leaves none of 3 steps\n")
    if not torch.cuda.is_available():
        assert run("lenet", "--device", "cuda", code=2) == ("", "this PyTorch has no CUDA device\n")


def test_a_loader_feeds_every_step_with_another_batch(run):  # type: ignore[no-untyped-def]
    printed = run("lenet", "--workers", "0", "--mode", "gradient", "--steps", "3")
    assert told(printed)["updated"] is False
    assert len({line.split()[3] for line in printed[0].splitlines() if line.startswith("step ")}) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "name", "parameters"),
    [
        (["autoencoder", "--part", "ae2"], "autoencoder-small-ae2", 394_600),
        (["autoencoder", "--size", "large"], "autoencoder-large", 3_451_010),
        (["lstm", "--length", "14"], "lstm", 1_411_842),
        (["framework_review", "--model", "ann"], "ann", 6_154),
        (["resnet50", "--depth", "18"], "resnet18", 11_689_512),
    ],
)
def test_other_samples_train(run, words, name, parameters):  # type: ignore[no-untyped-def]
    last = told(run(*words, "--steps", "2", "--device", "cpu"))
    assert (last["model"], last["parameters"], last["updated"]) == (name, parameters, True)


def test_the_mask_keeps_padding_out_of_the_state(sample):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    model = sample("lstm_torch").MaskedLstm().eval()
    words = torch.randint(0, 10_000, (2, 9))
    lengths = torch.tensor([5, 9])
    alone = model(words[:1, :5], lengths[:1])
    assert torch.allclose(model(words, lengths)[:1], alone, atol=1e-6)


@pytest.mark.long
def test_the_script_that_is_slow_on_purpose_computes_the_same_with_and_without_its_faults() -> None:
    script = SAMPLES / "slow_on_purpose_torch.py"

    def losses(faults: str) -> list[float]:
        command = [sys.executable, str(script), "--batch", "2", "--steps", "4", "--faults", faults]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [float(line.split()[3].rstrip(",")) for line in done.stdout.splitlines() if line.startswith("step ")]

    slow, mended = losses("data,onednn,layout,copies,optimizer"), losses("")
    assert len(mended) == 2 and slow == pytest.approx(mended, rel=1e-3)
