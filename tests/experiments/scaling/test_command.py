"""Places of the number of processes and of the batch in a command, and commands that name neither."""

from __future__ import annotations

import pytest

from traceview.errors import UsageError
from traceview.experiments.scaling.command import parse


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("torchrun --nproc_per_node {ranks} a.py --batch {batch}", "torchrun --nproc_per_node 4 a.py --batch 16"),
        ("/bin/torchrun --nproc-per-node=2 train.py -b {batch}", "/bin/torchrun --nproc-per-node=4 train.py -b 16"),
        ("python3 -m torch.distributed.run --nproc-per-node 8", "python3 -m torch.distributed.run --nproc-per-node 4"),
        ("mpirun --bind-to none -np 2 python a.py -n 7", "mpirun --bind-to none -np 4 python a.py -n 7"),
        ("srun -n 8 python a.py", "srun -n 4 python a.py"),
        ("python spawn.py --world {ranks} --total {global_batch}", "python spawn.py --world 4 --total 64"),
        ('torchrun --nproc_per_node 1 a.py {"lr": 1} {x}', 'torchrun --nproc_per_node 4 a.py {"lr": 1} {x}'),
        ("python a.py -n {ranks} --device {device}", "python a.py -n 4 --device cpu"),
    ],
)  # fmt: skip
def test_the_number_of_processes_and_the_batch_go_where_they_stand(command: str, expected: str) -> None:
    assert " ".join(parse(command.split(" ")).of(4, 16)) == expected


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "no command given"),
        ("python train.py", "nothing in the command says how many processes"),
        ("torchrun train.py --nproc", "nothing in the command says how many processes"),
        # An option of the script, not of the launcher.
        ("python train.py -n 4", "nothing in the command says how many processes"),
        ("torchrun --nnodes 2 --nproc_per_node {ranks} train.py", "--nnodes: processes on several hosts"),
        ("mpirun -H a,b -np 2 python train.py", "-H: processes on several hosts"),
    ],
)
def test_commands_that_cannot_be_scaled(command: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(command.split())


def test_a_port_is_a_free_one_each_time_and_one_host_is_no_several() -> None:
    template = parse(["torchrun", "--nnodes=1", "--master_port", "{port}", "--nproc_per_node", "2", "a.py"])
    first, second = template.of(1, None), template.of(2, None)
    assert 1024 <= int(first[3]) <= 65535 and first[5] == "1" and second[5] == "2"
    assert not template.has_batch and parse(["x", "{ranks}", "{global_batch}"]).has_batch
