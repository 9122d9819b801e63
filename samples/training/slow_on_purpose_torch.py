"""AlexNet for small images, slow on purpose: each fault has an option that gives the time back.

A plain PyTorch script: it does not know traceview, so that what is measured around it is any script's case. `--faults`
names those to have; all of them by default, so that they hide each other as in real programs.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CLASSES = 100
SIDE = 64
HIDDEN = 1024
SHUT = 1e-16
FAULTS = {
    "data": "images are prepared in the step's own thread, none ahead",
    "onednn": "convolutions without oneDNN",
    "layout": "tensors in the plain layout, which the library reorders",
    "copies": "after each convolution channels are put last and back, in the plain layout by copies",
    "optimizer": "the optimizer computes one small operation after the other",
    "denormals": "a branch of the model is shut: the optimizer's squares of its gradients are denormal",
}


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Random photographs of twice the size; each is filtered, scaled down and normalised when it is asked for."""

    def __init__(self, n: int) -> None:
        self.photos = torch.randint(0, 256, (n, 3, 2 * SIDE, 2 * SIDE), dtype=torch.uint8)

    def __len__(self) -> int:
        return len(self.photos)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        photo = self.photos[index].float().div(255)
        for _ in range(3):
            photo = nn.functional.avg_pool2d(photo, 3, stride=1, padding=1)
        image = nn.functional.interpolate(photo[None], size=(SIDE, SIDE), mode="bilinear", antialias=True)[0]
        return (image - image.mean()) / image.std(), index % CLASSES


class Scale(nn.Module):
    """Scales each channel; as many libraries do it, with the channels last and, in the plain layout, copied back."""

    def __init__(self, channels: int, copies: bool) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.copies = copies

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if not self.copies:
            return images * self.scale[:, None, None]
        is_last = images.is_contiguous(memory_format=torch.channels_last)
        last = images.permute(0, 2, 3, 1).contiguous() * self.scale
        return last.permute(0, 3, 1, 2) if is_last else last.permute(0, 3, 1, 2).contiguous()


class Branch(nn.Module):
    """A branch beside the classifier, behind a gate."""

    def __init__(self, features: int, gate: float) -> None:
        super().__init__()
        self.fc = nn.Linear(features, features, bias=False)
        self.gate = gate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.gate * self.fc(x)


def network(faults: set[str]) -> nn.Sequential:
    """Three convolutions and two fully connected layers."""
    layers: list[nn.Module] = []
    for inputs, outputs, size in ((3, 48, 5), (48, 64, 3), (64, 64, 3)):
        layers.append(nn.Conv2d(inputs, outputs, size, padding=size // 2))
        layers += [Scale(outputs, "copies" in faults), nn.ReLU(), nn.MaxPool2d(2)]
    features = 64 * (SIDE // 8) ** 2
    branch = Branch(HIDDEN, SHUT if "denormals" in faults else 1.0)
    return nn.Sequential(
        *layers, nn.Flatten(), nn.Linear(features, HIDDEN), nn.ReLU(), branch, nn.Linear(HIDDEN, CLASSES)
    )


def arguments() -> argparse.Namespace:
    """Steps, batch, and which faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16, help="images per step (default 16)")
    parser.add_argument("--steps", type=int, default=12, help="training steps (default 12)")
    parser.add_argument("--threads", type=int, default=1, help="threads (default 1)")
    parser.add_argument("--faults", default=",".join(FAULTS), help=f"of {', '.join(FAULTS)}; default: all; '' for none")
    return parser.parse_args()


def main() -> None:
    """Train for a few steps and print the loss and the time of each second one."""
    args = arguments()
    faults = {name for name in args.faults.split(",") if name}
    assert faults <= set(FAULTS), faults
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    if "onednn" in faults:
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    memory_format = torch.contiguous_format if "layout" in faults else torch.channels_last
    model = network(faults).to(memory_format=memory_format)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused="optimizer" not in faults)
    workers = {} if "data" in faults else {"num_workers": 1, "persistent_workers": True}
    loader = DataLoader(Images(args.batch * args.steps), batch_size=args.batch, **workers)
    criterion = nn.CrossEntropyLoss()
    print(f"slow on purpose: batch {args.batch}, {', '.join(sorted(faults)) or 'no faults'}")

    start = time.perf_counter()
    for step, (photos, labels) in enumerate(loader, start=1):
        images = photos.to(memory_format=memory_format)
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        if step % 2 == 0 or step == args.steps:
            print(f"step {step}: loss {loss.item():.4f}, {1e3 * (time.perf_counter() - start):.0f} ms", flush=True)
        start = time.perf_counter()


if __name__ == "__main__":
    main()
