"""Perfetto's own format: a file of packets with track events, for https://ui.perfetto.dev and its trace processor.

Format: https://perfetto.dev/docs/reference/synthetic-track-event and trace_packet.proto there. Texts are interned: each
stands once, in the first packets, and events carry its number. A start and an end are a packet each. Every message of a
batch is encoded at once: a field is a matrix of bytes, a row a message, with a mask of the bytes that count.
Wire format: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from traceview.analysis import timeline
from traceview.exports import BATCH_ROWS, ends, query
from traceview.ingest.derive.spans import integers
from traceview.lazy import duckdb
from traceview.render.page.varints import Field, Ints, varints

EXTENSION = ".pftrace"
TITLE = "Perfetto protobuf for ui.perfetto.dev, smaller than JSON"

PACKET = 1
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, FLAGS, DESCRIPTOR = 8, 10, 11, 12, 13, 60
CLEARED, NEEDS = 1, 2
"""Flags: what was interned before is forgotten; the packet needs what is interned."""
CATEGORY_IIDS, ANNOTATIONS, TYPE, NAME_IID, TRACK, SAMPLE, FLOWS = 3, 4, 9, 10, 11, 44, 47
BEGIN, END, COUNTER = 1, 2, 4
CATEGORIES, NAMES, KEYS, VALUES = 1, 2, 3, 29
"""Kinds of interned texts: categories, names of events, keys and texts of annotations."""
ANNOTATED = ("category", "algorithm", "direction", "role", "layer", "op", "shapes")
COUNTED = ("step", "size_bytes")
ANNOTATION_KEYS = (*ANNOTATED, *COUNTED)
KEY, WHOLE, VALUE_IID = 1, 4, 17
"""Fields of an annotation: its key, a whole number, a text by its number."""

choose = timeline.choose


def pieces(connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
    """The packets: tracks, texts, the slices of one track after the other, then the samples of counters."""
    for name, file in (("export_fact", "facts"), ("export_counter", "counted")):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query(f'perfetto/{file}').body}")
    yield _tracks(connection)
    yield one(PACKET, one(SEQUENCE, 1) + one(FLAGS, CLEARED | NEEDS) + one(INTERNED, _keys()))
    for batch in connection.sql(query("perfetto/texts").body).to_arrow_reader(BATCH_ROWS):
        yield b"".join(
            one(PACKET, one(SEQUENCE, 1) + one(FLAGS, NEEDS) + one(INTERNED, _interned(iid, text)))
            for iid, text in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
        )
    for batch in ends(connection, "perfetto/events"):
        yield _events({name: integers(batch.column(name)) for name in batch.schema.names})
    for batch in connection.sql(query("perfetto/samples").body).to_arrow_reader(BATCH_ROWS):
        yield _samples(*(batch.column(name).to_numpy() for name in ("tid", "at_ns", "value")))


def _tracks(connection: duckdb.DuckDBPyConnection) -> bytes:
    """A descriptor of each group of tracks and of each track."""
    rows = connection.execute(query("perfetto/tracks").body).fetchall()
    return b"".join(one(PACKET, one(SEQUENCE, 1) + one(DESCRIPTOR, _descriptor(*row))) for row in rows)


def _descriptor(uuid: int, parent: int | None, label: str, place: int, unit: int | None) -> bytes:
    """Fields of TrackDescriptor: uuid, name, parent, unit of a counter, order of children (by their place), place."""
    above = b"" if parent is None else one(5, parent)
    counter = b"" if unit is None else one(8, one(3, unit))
    return one(1, uuid) + one(2, label.encode()) + above + counter + one(11, 3) + one(12, place)


def _keys() -> bytes:
    keys = enumerate(ANNOTATION_KEYS, 1)
    return b"".join(one(KEYS, one(1, iid) + one(2, key.encode())) for iid, key in keys)


def _interned(iid: int, text: str) -> bytes:
    entry = one(1, iid) + one(2, text.encode())
    return b"".join(one(kind, entry) for kind in (CATEGORIES, NAMES, VALUES))


def _events(columns: Mapping[str, Ints]) -> bytes:
    """A packet for each start and end."""
    begins = columns["begins"] == 1
    n_rows = len(begins)

    def told(name: str) -> Ints:
        return np.where(begins, columns[name], -1)

    annotations = [
        message(ANNOTATIONS, joined([number(KEY, np.full(n_rows, key)), number(VALUE_IID, told(f"{name}_iid"))]),
            told(f"{name}_iid") >= 0)
        for key, name in enumerate(ANNOTATED, 1)
    ]  # fmt: skip
    annotations += [
        message(ANNOTATIONS, joined([number(KEY, np.full(n_rows, key)), number(WHOLE, told(name))]), told(name) >= 0)
        for key, name in enumerate(COUNTED, len(ANNOTATED) + 1)
    ]
    event = joined(
        [
            number(CATEGORY_IIDS, told("recorded_iid")),
            *annotations,
            number(TYPE, np.where(begins, BEGIN, END)),
            number(NAME_IID, told("name_iid")),
            number(TRACK, columns["tid"]),
            fixed(FLOWS, told("flow")),
        ]
    )
    return _packets(columns["at_ns"], event)


def _samples(tracks: Ints, at_ns: Ints, values: NDArray[np.float64]) -> bytes:
    """A packet for each sample of a counter; its value is eight bytes whatever its sign."""
    data = np.ascontiguousarray(values.astype("<f8")).view(np.uint8).reshape(-1, 8)
    value = _tagged(SAMPLE, FIXED64, Field(data, np.ones(data.shape, bool)), np.ones(len(values), bool))
    return _packets(at_ns, joined([number(TYPE, np.full(len(values), COUNTER)), number(TRACK, tracks), value]))


def _packets(at_ns: Ints, event: Field) -> bytes:
    packet = [
        number(TIMESTAMP, at_ns),
        number(SEQUENCE, np.ones(len(at_ns), np.int64)),
        number(FLAGS, np.full(len(at_ns), NEEDS)),
        message(TRACK_EVENT, event),
    ]
    return message(PACKET, joined(packet)).text()


VARINT, FIXED64, LENGTH = 0, 1, 2


def joined(fields: Sequence[Field]) -> Field:
    """Fields side by side: a message."""
    return Field(np.hstack([it.data for it in fields]), np.hstack([it.mask for it in fields]))


def number(tag: int, values: Ints) -> Field:
    """A field with a whole number; rows with a negative one lack it."""
    return _tagged(tag, VARINT, varints(np.maximum(values, 0)), values >= 0)


def fixed(tag: int, values: Ints) -> Field:
    """A field of eight bytes; rows with a negative number lack it."""
    data = np.ascontiguousarray(values.astype("<i8")).view(np.uint8).reshape(-1, 8)
    return _tagged(tag, FIXED64, Field(data, np.ones(data.shape, bool)), values >= 0)


def message(tag: int, inner: Field, there: NDArray[np.bool_] | None = None) -> Field:
    """A field that holds a message; rows where `there` is false lack it."""
    there = np.ones(len(inner.data), bool) if there is None else there
    return _tagged(tag, LENGTH, joined([varints(inner.lengths()), inner]), there)


def _tagged(tag: int, wire: int, value: Field, there: NDArray[np.bool_]) -> Field:
    first = varints(np.full(len(there), tag << 3 | wire))
    whole = joined([first, value])
    return Field(whole.data, whole.mask & there[:, None])


def one(tag: int, value: int | bytes) -> bytes:
    """A field of a single message: a whole number, or text or a message."""
    if isinstance(value, int):
        return _varint(tag << 3 | VARINT) + _varint(value)
    return _varint(tag << 3 | LENGTH) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
