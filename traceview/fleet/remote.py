"""Traces and captures in a store that fsspec knows (`s3://`, `gs://`, `az://` ...): fetched before they are read.

Invariant: what is in the user's cache is what the store lists (size, and its mark of the content); an object that
changed is fetched again. Names of objects never leave the folder that they are fetched into.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from traceview.errors import InputError, UsageError
from traceview.paths import own_folder, temporary_folder, user_cache

_ADDRESS = re.compile(r"(?!file:)([a-z][a-z0-9+.-]+)://.+", re.IGNORECASE)
_MARKS = ("ETag", "etag", "md5Hash", "content_md5", "LastModified", "last_modified", "mtime")
DAYS = 30
STORES = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "hdfs", "memory"))
"""Stores that files are fetched from: one's own. traceview follows no link into the web."""


def is_store(text: str) -> bool:
    """Whether an input or output is an address in a store."""
    match = _ADDRESS.fullmatch(text)
    return match is not None and match[1].lower() in STORES


def fetched(address: str) -> Path:
    """The file or folder behind an address, in the user's cache. Raises `InputError` where there is none."""
    with _translate_errors(address):
        store, root = _store(address)
        objects = _listed(store, root)
        if not objects:
            raise InputError(f"{address} does not exist.")
        marks = {
            name: [about.get("size"), *(str(about[key]) for key in _MARKS if key in about)] for name, about in objects
        }
        key = hashlib.sha256(json.dumps([address, sorted(marks.items())], default=str).encode()).hexdigest()[:32]
        place = own_folder(user_cache() / "fetched") / key
        target = place / (root.rstrip("/").rpartition("/")[2] or "traces")
        _make_room(place)
        if not place.exists():
            with temporary_folder(".making-", place.parent) as building:
                _fetch(store, root, [name for name, _ in objects], building / target.name)
                with contextlib.suppress(OSError):  # Another process was first.
                    building.rename(place)
    return target


def sent(folder: Path, address: str) -> None:
    """Put a capture into a store; what says that it is complete comes last. Raises `UsageError` for one that exists."""
    with _translate_errors(address):
        store, root = _store(address)
        if store.exists(root):
            raise UsageError(f"{address} exists already; choose another name with -o.")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: path.parent == folder):
            store.put_file(str(path), f"{root}/{path.relative_to(folder).as_posix()}")


def _make_room(used: Path) -> None:
    """Remove what was fetched and has not been used for long."""
    with contextlib.suppress(OSError):
        if used.exists():
            os.utime(used)
        for place in used.parent.iterdir():
            if time.time() - place.lstat().st_mtime > DAYS * 24 * 3600:
                shutil.rmtree(place, ignore_errors=True)


def _store(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(
            f"{address} needs more packages: pip install 'traceview[s3]', or fsspec and its store."
        ) from error
    store, root = fsspec.core.url_to_fs(address)
    return store, str(root).rstrip("/")


def _listed(store: Any, root: str) -> list[tuple[str, dict[str, Any]]]:
    """The objects at or below a name, each with what the store says of it, by their names below it."""
    store.invalidate_cache()
    if store.isfile(root):
        return [("", store.info(root))]
    found = store.find(root, detail=True)
    return sorted((name[len(root) :].lstrip("/"), about) for name, about in found.items() if about["type"] == "file")


def _fetch(store: Any, root: str, names: list[str], target: Path) -> None:
    for name in names:
        path = target / name if name else target
        if any(part in ("..", "") for part in name.split("/") if name):
            raise InputError(f"{root} holds an object whose name is not a path ({name[:80]!r}).")
        path.parent.mkdir(parents=True, exist_ok=True)
        store.get_file(f"{root}/{name}" if name else root, str(path))


@contextlib.contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """Turns what a store's library raises into a sentence."""
    try:
        yield
    except (InputError, UsageError):
        raise
    except ImportError as error:
        raise UsageError(f"{address} needs another package: {str(error).splitlines()[0]}") from error
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{address} cannot be read or written: {reason}.") from error
    except Exception as error:
        # Each store's library has errors of its own.
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InputError(f"{address} cannot be read or written: {reason}.") from error
