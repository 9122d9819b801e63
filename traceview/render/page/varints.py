"""Whole numbers as varints, the variable-length bytes of protobuf, a column at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Field:
    """One field of every message of a batch; `mask` is false beyond a row's own bytes."""

    data: NDArray[np.uint8]
    mask: NDArray[np.bool_]

    def lengths(self) -> Ints:
        """Bytes of each row."""
        lengths: Ints = self.mask.sum(axis=1, dtype=np.int64)
        return lengths

    def text(self) -> bytes:
        """All rows, one after the other."""
        return self.data[self.mask].tobytes()


def varints(values: Ints) -> Field:
    """Each value, not negative, in groups of seven bits, the lowest first."""
    n_groups = max(1, (int(values.max()).bit_length() + 6) // 7) if len(values) else 1
    groups = (values[:, None] >> (7 * np.arange(n_groups))) & 127
    more = (values[:, None] >> (7 * np.arange(1, n_groups + 1))) > 0
    mask = np.ones_like(more)
    mask[:, 1:] = more[:, :-1]
    return Field((groups + 128 * more).astype(np.uint8), mask)
