"""FSDP2 as PyTorch's tutorial has it (`fully_shard` of each block and of the model), with gloo."""

import own_timer
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard


class Block(nn.Module):
    """Attention and two layers."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(64, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x):
        x = x + self.attn(x, x, x)[0]
        return x + self.mlp(x)


class Net(nn.Module):
    """Three blocks and a head."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


dist.init_process_group("gloo")
mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
model = Net()
for each in [*model.blocks, model]:
    fully_shard(each, mesh=mesh)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(12):
    model(torch.randn(8, 16, 64)).square().sum().backward()
    own_timer.timed(optimizer.step)
    optimizer.zero_grad()
if dist.get_rank() == 0:
    own_timer.say(12)
dist.destroy_process_group()
