"""LeNet training by several processes with DistributedDataParallel: 431,080 parameters, one gradient average a step.

    traceview collect -- torchrun --standalone --nproc-per-node 2 samples/training/lenet_ddp_torch.py
    traceview collect -- python samples/training/lenet_ddp_torch.py

A plain PyTorch script: it does not know traceview. Without a launcher it starts two processes by itself, which talk
over the loopback interface.
"""

from __future__ import annotations

import argparse
import os
import socket
import time

import torch
import torch.distributed as dist
from lenet_torch import LeNet
from timing import MODELS
from torch import nn

PROCESSES = 2


def arguments() -> argparse.Namespace:
    """The options that every training sample has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64, help="images per step and process (default 64)")
    parser.add_argument("--steps", type=int, default=20, help="training steps (default 20)")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="default: cuda where there is one for each process")
    parser.add_argument("--layout", choices=("nchw", "nhwc"), default="nchw", help="memory format of the tensors")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each process (default 1)")
    return parser.parse_args()


def train(local_rank: int, args: argparse.Namespace) -> None:
    """Train for a few steps; the first process prints the loss and the mean time."""
    torch.set_num_threads(args.threads)
    size = int(os.environ["WORLD_SIZE"])
    device = args.device or ("cuda" if torch.cuda.device_count() >= size else "cpu")
    dist.init_process_group("nccl" if device == "cuda" else "gloo", rank=int(os.environ.get("RANK", local_rank)))
    if device == "cuda":
        torch.cuda.set_device(local_rank)
    memory_format = torch.channels_last if args.layout == "nhwc" else torch.contiguous_format
    torch.manual_seed(dist.get_rank())

    model = LeNet().to(device=device, memory_format=memory_format)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == MODELS["lenet"].parameters, count
    parallel = nn.parallel.DistributedDataParallel(model)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(args.batch, 1, 28, 28).to(device=device, memory_format=memory_format)
    labels = torch.randint(0, 10, (args.batch,)).to(device)
    if dist.get_rank() == 0:
        print(f"lenet: {count} parameters, batch {args.batch} x {size}, {device}, {args.layout}", flush=True)

    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        optimizer.zero_grad()
        loss = criterion(parallel(images), labels)
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0 and (step % 10 == 0 or step == args.steps):
            mean_ms = 1e3 * (time.perf_counter() - start) / step
            print(f"step {step}: loss {loss.item():.4f}, mean {mean_ms:.1f} ms", flush=True)
    dist.destroy_process_group()


def main() -> None:
    """Train in this process where a launcher started it as one of several; else start the processes."""
    args = arguments()
    if "LOCAL_RANK" in os.environ:
        train(int(os.environ["LOCAL_RANK"]), args)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(PROCESSES))
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.multiprocessing.spawn(train, args=(args,), nprocs=PROCESSES)


if __name__ == "__main__":
    main()
