"""Lines of a text log, in batches.

Invariant: a line is what ends in a newline, and memory holds one batch, however long a line or a file is. A line that
is too long is left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from traceview.decode.files import Stream

BATCH_BYTES = 8 << 20
MAX_LINE_BYTES = 1 << 20
"""A longer line is left out: no log has one, and one hostile line must not fill the memory."""
TOO_LONG = "lines of more than 1 MiB, left out"
BOM = b"\xef\xbb\xbf"


@dataclass
class Lines:
    """The lines of a file without their ends, in columns of text; bytes that are not UTF-8 become U+FFFD."""

    stream: Stream
    unended: str | None = field(default=None, init=False)
    """The last line, when no newline ends it."""
    n_long: int = field(default=0, init=False)
    """Lines left out because they are longer than `MAX_LINE_BYTES`."""

    def __iter__(self) -> Iterator[pa.Array]:
        held: list[bytes] = []
        size, first, in_long = 0, True, False
        for block in self.stream:
            if first:
                block, first = block.removeprefix(BOM), False
            if in_long:
                end = block.find(b"\n") + 1
                if not end:
                    continue
                block, in_long = block[end:], False
            held.append(block)
            size += len(block)
            if size >= BATCH_BYTES:
                text = b"".join(held)
                cut = text.rfind(b"\n") + 1
                in_long = len(text) - cut > MAX_LINE_BYTES
                self.n_long += in_long
                if cut:
                    yield self._split(text[:cut])
                held = [] if in_long else [text[cut:]]
                size = sum(map(len, held))
        rest = b"".join(held)
        if rest:
            lines = self._split(rest)
            self.unended = None if rest.endswith(b"\n") or not len(lines) else lines[-1].as_py()
            yield lines

    def _split(self, text: bytes) -> pa.Array:
        lines = text.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
        short = [line for line in lines if len(line) <= MAX_LINE_BYTES]
        self.n_long += len(lines) - len(short)
        return pa.array(short, pa.string())

    def report(self, problem: Callable[..., None]) -> None:
        """Tell `problem` (see `Sink.problem`) what was wrong with lines and with the end of the file."""
        if self.n_long:
            problem(TOO_LONG, self.n_long)
        if self.stream.damage:
            problem(self.stream.damage)
        elif self.unended is not None:
            problem("the last line does not end: the file may be cut off there", examples=[self.unended])
