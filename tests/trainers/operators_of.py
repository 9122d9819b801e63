"""How often PyTorch's own profiler counts each operator from the end of one update to that of another.

python operators_of.py STEPS FIRST LAST PROGRAM: bare, with STEPS optimizer steps an update; the last line is JSON.
"""

import json
import runpy
import sys

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

per_update, first, last = (int(word) for word in sys.argv[1:4])
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
done = 0


def count(*_):
    """An optimizer's step is over."""
    global done
    done += 1
    if done == per_update * first:
        profiler.start()
    elif done == per_update * last:
        profiler.stop()


register_optimizer_step_post_hook(count)
runpy.run_path(sys.argv[4], run_name="__main__")
print(json.dumps({each.key: each.count for each in profiler.key_averages() if each.key.startswith("aten::")}))
