"""The sample scripts train, with their options and the parameters they are known for.

The numbers are worked out once more here, from each layer's filter or weight; a published number stands beside its sum.
"""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    ("vgg_torch", "vgg_a"): (
        sum(conv(*shape, 3) for shape in VGG_A) + chain([512 * 7 * 7, 4096, 4096, 1000]),
        132_863_336,
    ),
    ("googlenet_torch", "googlenet"): (googlenet(), 6_998_552),
    ("resnet_torch", "resnet50"): (resnet50(), 25_557_032),
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
    known = module.PARAMETERS if isinstance(module.PARAMETERS, int) else module.PARAMETERS[place[1]]
    assert {sum(parameter.numel() for parameter in model.parameters()), known, *numbers} == {numbers[0]}


@pytest.mark.parametrize(
    ("size", "widths", "published"), [("small", [400, 200, 100], 415_310), ("large", [800, 1000, 2000], 3_451_010)]
)
def test_parameters_of_the_autoencoder(sample, size, widths, published):  # type: ignore[no-untyped-def]
    module = sample("autoencoder_torch")
    with torch.device("meta"):
        model = module.finetuning(module.WIDTHS[size])
        parts = [module.Pretraining(module.WIDTHS[size][: depth + 1]) for depth in (1, 2, 3)]
    counts = [sum(it.numel() for it in part.parameters()) for part in (model, *parts)]
    # Tied weights: a decoder has only a bias of its own, one number per input.
    frozen = [chain([784, *widths[:depth]]) for depth in range(4)]
    assert counts == [published, *(frozen[depth + 1] + [784, *widths][depth] for depth in range(3))]
    assert counts[0] == chain([784, *widths, 10]) == module.FINETUNE[size]
    trained = [sum(it.numel() for it in part.parameters() if it.requires_grad) for part in parts]
    assert trained == [counts[depth + 1] - frozen[depth] for depth in range(3)]


def run(name: str, *words: str) -> list[str]:
    """The lines of a script's two steps on one thread."""
    done = subprocess.run(
        [sys.executable, SAMPLES / f"{name}_torch.py", "--steps", "2", "--device", "cpu", "--threads", "1", *words],
        env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("name", "count", "layout"),
    [pytest.param("alexnet", 62_378_344, "nhwc", marks=pytest.mark.long), ("lenet", 431_080, "nchw")],
)
def test_sample(name, count, layout):
    lines = run(name, "--batch", "2", "--layout", layout)
    assert lines[0] == f"{name}: {count} parameters, batch 2, cpu, {layout}"
    assert lines[1].startswith("step 2: loss ")


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["autoencoder"], "autoencoder-small-finetune: 415310 parameters, batch 2, cpu, nchw"),
        *(
            pytest.param(*sample, marks=pytest.mark.long)
            for sample in (
                (["autoencoder", "--part", "ae2"], "autoencoder-small-ae2: 394600 parameters, batch 2, cpu, nchw"),
                (["lstm", "--length", "14"], "lstm: 1411842 parameters, batch 2, cpu, nchw"),
                (["framework_review", "--model", "ann"], "ann: 6154 parameters, batch 2, cpu, nchw"),
            )
        ),
    ],
)
def test_small_samples_train(words, first):
    lines = run(words[0], "--batch", "2", *words[1:])
    assert lines[0] == first and lines[1].startswith("step 2: loss ")


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
