"""Lines of a text log, in batches.

The one law: a line is what ends in a newline, and memory holds one batch, however long a line or a file is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from traceview.decode.files import Stream

BATCH_BYTES = 8 << 20
MAX_LINE_BYTES = 1 << 20
"""A longer line comes in pieces: no log has one, and one hostile line must not fill the memory."""
BOM = b"\xef\xbb\xbf"


@dataclass
class Lines:
    """The lines of a file without their ends, in columns of text; bytes that are no UTF-8 become U+FFFD."""

    stream: Stream
    unended: str | None = field(default=None, init=False)
    """The last line, when no newline ends it."""

    def __iter__(self) -> Iterator[pa.Array]:
        held: list[bytes] = []
        size, first = 0, True
        for block in self.stream:
            if first:
                block, first = block.removeprefix(BOM), False
            held.append(block)
            size += len(block)
            if size >= BATCH_BYTES:
                text = b"".join(held)
                cut = text.rfind(b"\n") + 1
                if len(text) - cut > MAX_LINE_BYTES:
                    cut = len(text)
                if cut:
                    yield _split(text[:cut])
                held, size = [text[cut:]], len(text) - cut
        rest = b"".join(held)
        if rest:
            lines = _split(rest)
            self.unended = None if rest.endswith(b"\n") else lines[-1].as_py()
            yield lines

    def report(self, problem: Callable[..., None]) -> None:
        """Tell `problem` (see `Sink.problem`) what was wrong with the end of the file."""
        if self.stream.damage:
            problem(self.stream.damage)
        elif self.unended is not None:
            problem("the last line does not end: the file may be cut off there", examples=[self.unended])


def _split(text: bytes) -> pa.Array:
    lines = text.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
    return pa.array(lines, pa.string())
