"""Built jobs of many ranks: what is late, by how much, why, on which clocks, and how fast a collective moves bytes is
what the test says, so the answer is known. Times are in microseconds on the true clock; each rank writes its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from given import Given

REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
SGEMM = "ampere_sgemm_128x64_nn"
STEP = 1000.0
"""The length of a step in which no rank is late."""


@dataclass
class Job:
    """Data parallel training: per step and rank a kernel, then all-reduces that all ranks leave together."""

    ranks: int = 4
    steps: int = 6
    buckets: int = 2
    compute: float = 300.0
    transfer: float = 100.0
    size_bytes: int = 1_000_000
    late: Callable[[int, int], float] = lambda step, rank: 0.0
    """How much later than the others a rank comes to the first collective of a step."""
    why: str = "kernel"
    """Work of a late rank meanwhile: kernel, data or host."""
    clock: Callable[[float, int], float] = lambda at, rank: at
    """Time on a rank's clock at a true time."""
    numbered: bool = True
    host: Callable[[int], str | None] = lambda rank: None
    jitter: Callable[[int, int], float] = lambda number, rank: 0.0
    """How much later than the first a rank leaves a collective."""
    absent: Callable[[int, int], bool] = lambda number, rank: False
    """Whether a rank never enters a collective: the others stay in it for `gives_up`."""
    gives_up: float = 600e6
    slow: Callable[[int, int], float] = lambda step, rank: 1.0
    """How many times as long a rank computes in a step."""
    between: Callable[[int, int], float] = lambda step, rank: 0.0
    """How much longer than the others a rank computes behind the first collective of a step."""
    recorded_steps: Callable[[int], int | None] = lambda rank: None
    """How many steps a rank records, where not all."""
    made: list[Given] = field(default_factory=list)
    ids: int = 2_000_000
    step: int = 0
    host_at: dict[int, float] = field(default_factory=dict)
    """When the host of a rank is free to launch: it runs ahead of the device."""

    def build(self) -> list[Given]:
        """One `Given` per rank."""
        self.made = [Given(rank) for rank in range(self.ranks)]
        begin, number = 0.0, 0
        for step in range(self.steps):
            self.step = step
            self.host_at = dict.fromkeys(range(self.ranks), begin + 5.0)
            free = [begin] * self.ranks
            for rank in range(self.ranks):
                free[rank] += self._before(rank, begin, self.late(step, rank))
            for nth in range(self.buckets):
                free = self._reduce(number, free)
                more = [0.0 if nth else self.between(step, rank) for rank in range(self.ranks)]
                free = [self._kernel(rank, at, 50.0 + more[rank]) for rank, at in enumerate(free)]
                number += 1
            end = max(max(free) + 50.0, begin + STEP)
            for rank, given in enumerate(self.made):
                given.span("step", f"step#{step + 1}", self.clock(begin, rank), self.clock(end, rank))
            begin = end
        for rank, given in enumerate(self.made):
            given.host = self.host(rank)
            self._cut(given, self.recorded_steps(rank))
        return self.made

    def _cut(self, given: Given, steps: int | None) -> None:
        """Leave out what lies behind the first steps."""
        if steps is not None:
            last = [row for row in given.rows["ranges"] if row["kind"] == "step"][steps - 1]
            until = last["start_ns"] + last["dur_ns"]
            for table, rows in given.rows.items():
                given.rows[table] = [row for row in rows if row["start_ns"] < until]

    def _kernel(self, rank: int, at: float, lasting: float, name: str = SGEMM) -> float:
        self.ids += 1
        span = self.clock(at, rank), self.clock(at + lasting, rank), self._launch(rank)
        self.made[rank].kernel(name, *span, id=self.ids)
        return at + lasting

    def _launch(self, rank: int) -> float:
        self.host_at[rank] += 1.5
        return self.clock(self.host_at[rank] - 1.5, rank)

    def _before(self, rank: int, begin: float, late: float) -> float:
        """Do the work of a rank before the first collective; return how long it takes."""
        at = begin + 10
        if late and self.why == "data":
            self.made[rank].span("phase", "data", self.clock(at, rank), self.clock(at + late, rank))
        self.host_at[rank] += late if self.why != "kernel" else 0.0
        compute = self.compute * self.slow(self.step, rank)
        if self.why == "kernel":
            return self._kernel(rank, at, compute + late) - begin
        return self._kernel(rank, at + late, compute) - begin

    def _reduce(self, number: int, starts: list[float]) -> list[float]:
        """All ranks wait for the last one, move their bytes and leave together."""
        absent = [self.absent(number, rank) for rank in range(self.ranks)]
        end = max(starts) + (self.gives_up if any(absent) else self.transfer)
        ends = [end + self.jitter(number, rank) for rank in range(self.ranks)]
        ends = [start if gone else end for start, end, gone in zip(starts, ends, absent, strict=True)]
        for rank, given in enumerate(self.made):
            if absent[rank]:
                continue
            start, until = self.clock(starts[rank], rank), self.clock(ends[rank], rank)
            kernel = 1_000_000 + 10_000 * rank + number
            given.kernel(REDUCE, start, until, self._launch(rank), stream=9, id=kernel)
            facts = {"kind": "allreduce", "size_bytes": self.size_bytes, "group_size": self.ranks, "dtype": "Float"}
            if self.numbered:
                facts |= {"group_name": "0", "sequence": number}
            times = {"start_ns": round(start * 1000), "dur_ns": round((until - start) * 1000)}
            given.add("collectives", name=REDUCE, kernel_id=kernel, **facts, **times)
        return ends
