"""Records calls of unusual and usual operators on a CPU, and prints what FlopCounterMode counts of each.

`python counted_cases.py TRACE`: the trace has a range for each case; the counts go to stdout as JSON.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

r = torch.randn
q, shared_kv, longer = r(2, 8, 16, 32), r(2, 2, 16, 32), r(2, 8, 24, 32)


def trained(module: nn.Module, *sizes: int) -> Callable[[], object]:
    """A forward and a backward pass, the input's gradient included."""

    def run() -> None:
        found = module(r(*sizes, requires_grad=True))
        (found[0] if isinstance(found, tuple) else found).sum().backward()

    return run


def attention() -> None:
    x = r(2, 8, 16, 32, requires_grad=True)
    scaled_dot_product_attention(x, x, x).sum().backward()


def twice() -> None:
    x, w = r(8, 16, requires_grad=True), r(16, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.tanh(x @ w).sum(), x, create_graph=True)
    gradient.pow(2).sum().backward()


def again() -> None:
    block = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
    checkpoint(block, r(8, 16, requires_grad=True), use_reentrant=False).sum().backward()


def stepped(**options: bool) -> Callable[[], object]:
    layer = nn.Linear(8, 8)
    optimizer = torch.optim.Adam(layer.parameters(), **options)
    layer(r(4, 8)).sum().backward()
    return optimizer.step


def cnn() -> nn.Module:
    pooled = [nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, groups=4), nn.GroupNorm(4, 16), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), *pooled, nn.Flatten())


def jagged() -> object:
    return linear(torch.nested.nested_tensor([r(3, 8), r(5, 8)], layout=torch.jagged), r(6, 8))


CASES: dict[str, Callable[[], object]] = {
    "broadcast": lambda: r(3, 1, 7, 11) @ r(5, 11, 13),
    "matrix by vector": lambda: r(6, 7, 11) @ r(11),
    "addmm beta": lambda: torch.addmm(r(7, 13), r(7, 11), r(11, 13), beta=0.5, alpha=2),
    "baddbmm beta 0": lambda: torch.baddbmm(r(1, 1, 1), r(2, 3, 4), r(2, 4, 5), beta=0),
    "einsum": lambda: torch.einsum("bhid,bhjd->bhij", r(2, 3, 4, 8), r(2, 3, 5, 8)),
    "vmap": lambda: torch.vmap(torch.mm)(r(3, 4, 5), r(3, 5, 6)),
    "complex": lambda: torch.randn(7, 11, dtype=torch.cfloat) @ torch.randn(11, 13, dtype=torch.cfloat),
    "sparse": lambda: torch.eye(20).to_sparse() @ r(20, 5),
    "jagged": jagged,
    "nothing": lambda: r(0, 4) @ r(4, 5),
    "circular": lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular")(r(2, 4, 8, 8)),
    "transposed 3-D": lambda: nn.ConvTranspose3d(4, 6, 3, 2, 1, 1, groups=2)(r(2, 4, 5, 5, 5)),
    "depthwise": lambda: nn.Conv2d(8, 8, 3, groups=8, padding="same")(r(2, 8, 9, 9)),
    "grouped, trained": trained(nn.Conv2d(8, 16, 3, groups=4), 2, 8, 10, 10),
    "cnn, trained": trained(cnn(), 2, 3, 16, 16),
    "attention, shared": lambda: scaled_dot_product_attention(q, shared_kv, shared_kv, enable_gqa=True),
    "attention, causal": lambda: scaled_dot_product_attention(q, longer, longer, is_causal=True),
    "attention, masked": lambda: scaled_dot_product_attention(q, q, q, attn_mask=torch.zeros(16, 16)),
    "attention, trained": attention,
    "twice": twice,
    "checkpoint": again,
    "lstm, trained": trained(nn.LSTM(8, 16), 5, 2, 8),
    "gru, trained": trained(nn.GRU(8, 16), 5, 2, 8),
    "bilinear": lambda: nn.Bilinear(5, 6, 7)(r(4, 5), r(4, 6)),
    "grouped products": lambda: torch._grouped_mm(
        r(32, 16).bfloat16(), r(4, 16, 24).bfloat16(), offs=torch.tensor([8, 16, 24, 32], dtype=torch.int32)
    ),
    "foreach": stepped(foreach=True),
    "fused": stepped(fused=True),
    "empty list": lambda: torch._foreach_add_([r(3), r(0), r(2, 0)], [r(3), r(0), r(2, 0)]),
}


def main() -> None:
    counted: dict[str, int | None] = {}
    for name, case in CASES.items():
        try:
            with FlopCounterMode(display=False) as counter:
                case()
            counted[name] = counter.get_total_flops()
        except (TypeError, RuntimeError):  # Nested tensors are no tensors to it.
            counted[name] = None
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recorded:
        for name, case in CASES.items():
            with record_function(f"case: {name}"):
                case()
    recorded.export_chrome_trace(sys.argv[1])
    print(json.dumps(counted))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    main()
