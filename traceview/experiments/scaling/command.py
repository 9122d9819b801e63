"""The command of a scaling study, for any number of processes and any batch.

`{ranks}`, `{batch}` (of a rank), `{global_batch}` (of all ranks), `{port}` (a free one) and `{device}` stand for what
changes; without `{ranks}` the number is put where torchrun, mpirun and the like have theirs.

Invariant: nothing else of the command changes, and braces that are none of these stay.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from traceview.errors import UsageError

RANKS, BATCH, GLOBAL_BATCH, PORT, DEVICE = "{ranks}", "{batch}", "{global_batch}", "{port}", "{device}"
COUNTS = {
    "torchrun": ("--nproc_per_node", "--nproc-per-node"),
    "torch.distributed.run": ("--nproc_per_node", "--nproc-per-node"),
    "torch.distributed.launch": ("--nproc_per_node", "--nproc-per-node"),
    "mpirun": ("-np", "-n", "--np", "-c"),
    "mpiexec": ("-np", "-n", "--np"),
    "orterun": ("-np", "-n", "--np"),
    "horovodrun": ("-np", "--num-proc"),
    "srun": ("-n", "--ntasks"),
}
"""Launchers, with their options for the number of processes."""
HOSTS = ("--nnodes", "-N", "--nodes", "-H", "--host", "--hosts", "--hostfile", "-hostfile", "--machinefile")
SHOWN = "traceview study scaling --ranks 1,2,4 -- torchrun --nproc_per_node {ranks} train.py --batch {batch}"


@dataclass(frozen=True)
class Template:
    """A command with `{ranks}` where the number of processes stands."""

    words: tuple[str, ...]

    @property
    def has_batch(self) -> bool:
        """Whether its batch can be changed."""
        return self.has(BATCH) or self.has(GLOBAL_BATCH)

    def has(self, placeholder: str) -> bool:
        """Whether it stands anywhere in the command."""
        return any(placeholder in word for word in self.words)

    def of(self, ranks: int, batch: int | None, device: str | None = None) -> list[str]:
        """The command for `ranks` processes, each with this batch."""
        values = {RANKS: str(ranks), DEVICE: device or "cpu"}
        if batch is not None:
            values |= {BATCH: str(batch), GLOBAL_BATCH: str(batch * ranks)}
        if self.has(PORT):
            values[PORT] = str(free_port())
        words = list(self.words)
        for placeholder, value in values.items():
            words = [word.replace(placeholder, value) for word in words]
        return words


def parse(command: Sequence[str]) -> Template:
    """Find where the number of processes stands. Raises `UsageError` where nothing says it."""
    if not command:
        raise UsageError(f"no command given: {SHOWN}")
    at = _launcher(command)
    _refuse_hosts(command, at)
    if any(RANKS in word for word in command):
        return Template(tuple(command))
    words = list(command)
    if at is not None:
        for place in range(at + 1, len(words)):
            name, has_value, _ = words[place].partition("=")
            if name not in COUNTS[Path(words[at]).name]:
                continue
            if has_value:
                words[place] = f"{name}={RANKS}"
            elif place + 1 < len(words):
                words[place + 1] = RANKS
            return Template(tuple(words))
    raise UsageError(f"nothing in the command says how many processes it starts; write {{ranks}} there: {SHOWN}")


def _launcher(command: Sequence[str]) -> int | None:
    """The place of the launcher's name, among the words before the script."""
    for place, word in enumerate(command):
        if re.search(r"\.(py|sh)$", word):
            return None
        if Path(word).name in COUNTS:
            return place
    return None


def _refuse_hosts(command: Sequence[str], at: int | None) -> None:
    """Refuse commands for several hosts: only this one's processes could be seen."""
    if at is None:
        return
    for place in range(at + 1, len(command)):
        word = command[place]
        if word.endswith(".py"):
            return
        name, _, value = word.partition("=")
        if name in HOSTS and (value or "".join(command[place + 1 : place + 2])) not in ("1", "1:1", "localhost"):
            raise UsageError(f"{name}: processes on several hosts cannot be measured; leave it out.")


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
