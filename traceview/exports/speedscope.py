"""speedscope's own format: a profile per thread and stream, each a sequence of starts and ends.

Format: https://www.speedscope.app/file-format-schema.json (`evented` profiles, in nanoseconds).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from traceview import __version__
from traceview.analysis import timeline
from traceview.exports import ascii_json, ends, query, texts
from traceview.lazy import duckdb

EXTENSION = ".speedscope.json"
TITLE = "speedscope (https://www.speedscope.app): a profile per thread and stream"
SCHEMA = "https://www.speedscope.app/file-format-schema.json"

choose = timeline.choose


def pieces(connection: duckdb.DuckDBPyConnection) -> Iterator[bytes]:
    """One JSON object with frames and profiles."""
    profiles = connection.execute(query("speedscope/profiles").body).fetchall()
    active = next((at for at, (_, _, place) in enumerate(profiles) if place == 1), 0)
    head = json.dumps({"$schema": SCHEMA, "exporter": f"traceview {__version__}", "activeProfileIndex": active})
    yield f'{head[:-1]},"shared":{{"frames":[\n'.encode()
    lead = ""
    for frames in texts(connection, "speedscope/frames"):
        yield ascii_json(lead + ",\n".join(frames))
        lead = ",\n"
    yield b'\n]},"profiles":[\n'
    heads = {tid: head for tid, head, _ in profiles}
    lead, current = "", None
    for batch in ends(connection, "speedscope/events"):
        tracks, events = batch.column(0).to_pylist(), iter(batch.column(1).to_pylist())
        for track, rows in groupby(tracks):
            if track != current:
                yield ascii_json(f'{lead}{heads[track]},"events":[\n')
                lead, current = "]},\n", track
            else:
                yield b",\n"
            yield ascii_json(",\n".join(next(events) for _ in rows))
    yield b"]}]}\n"
