"""DDP in processes of `torch.multiprocessing.spawn`, as in PyTorch's tutorial, every first micro-batch by itself."""

import os
import socket

import own_timer
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world_size, port):
    """A rank."""
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 5)))
    criterion, optimizer = nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(12):
        optimizer.zero_grad()
        with model.no_sync():
            criterion(model(torch.randn(20, 10)), torch.randn(20, 5)).backward()
        criterion(model(torch.randn(20, 10)), torch.randn(20, 5)).backward()
        own_timer.timed(optimizer.step)
    if rank == 0:
        own_timer.say(12)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("localhost", 0))
        place = free.getsockname()[1]
    mp.spawn(train, args=(2, place), nprocs=2, join=True)
