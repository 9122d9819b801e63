"""A plain loop: spawned workers, GradScaler, autocast, clipping, a schedule, and an evaluation every second step."""

import time

import own_timer
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    """Images that take a moment."""

    def __len__(self):
        return 96

    def __getitem__(self, i):
        time.sleep(0.005)
        return torch.randn(3, 32, 32), i % 10


if __name__ == "__main__":
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=12)
    scaler = torch.amp.GradScaler("cpu")
    loader = DataLoader(
        Data(), batch_size=8, num_workers=2, multiprocessing_context="spawn", persistent_workers=True, shuffle=True
    )
    for number, (x, y) in enumerate(loader, 1):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        own_timer.timed(scaler.step, optimizer)
        scaler.update()
        schedule.step()
        if number % 2 == 0:
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    model(torch.randn(8, 3, 32, 32))
            model.train()
    own_timer.say(number)
