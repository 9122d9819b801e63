"""Traces and captures in an object store: a real S3 server (moto's) on loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from job_traces import left_over, rows, trace, written

from traceview import store
from traceview.cli import main
from traceview.errors import InputError, UsageError
from traceview.fleet import remote


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of an S3 server that listens on loopback."""
    # Every worker collects this file, and one runs it: what takes seconds to import waits until then.
    from moto import server

    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            patch.delenv(name)
        fsspec.filesystem("s3").mkdir("traces")
        yield "s3://traces"
    running.stop()


@pytest.mark.long
def test_a_job_from_and_to_a_store(bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    traces = written(tmp_path / "traces")
    fsspec.filesystem("s3").put(str(traces), "traces/job", recursive=True)
    assert main(["convert", f"{bucket}/job", "-o", f"{bucket}/capture", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == f"{bucket}/capture\n"
    alone = store.convert([traces], tmp_path / "alone")
    assert rows(remote.fetched(f"{bucket}/capture")) == rows(alone)
    assert main(["sql", f"{bucket}/capture", "SELECT count(*) AS n FROM kernels", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 24}]
    assert main(["convert", f"{bucket}/job", "-o", f"{bucket}/capture"]) == UsageError.exit_code
    assert "exists already" in capsys.readouterr().err
    assert left_over(tmp_path) == []


@pytest.mark.slow
def test_an_object_that_changed_is_fetched_again(bucket: str) -> None:
    files = fsspec.filesystem("s3")
    for rank in (0, 1):
        files.pipe_file("traces/one.json", json.dumps(trace(rank)).encode())
        assert json.loads(remote.fetched(f"{bucket}/one.json").read_text()) == trace(rank)
    assert remote.fetched(f"{bucket}/one.json") == remote.fetched(f"{bucket}/one.json")


@pytest.mark.slow
def test_what_cannot_be_fetched_is_a_sentence(bucket: str) -> None:
    with pytest.raises(InputError, match="s3://traces/nothing does not exist"):
        remote.fetched(f"{bucket}/nothing")
    with pytest.raises(InputError, match="cannot be read"):
        remote.fetched("s3://no-such-bucket-here/x")
    fsspec.filesystem("s3").pipe_file("traces/bad/../../escaped.json", b"{}")
    with pytest.raises(InputError, match="traces/bad holds an object whose name is not a path"):
        remote.fetched(f"{bucket}/bad")


def test_links_into_the_web_are_not_followed() -> None:
    assert not remote.is_store("https://example.org/trace.json")
    assert not remote.is_store("file:///etc/passwd")
    assert remote.is_store("S3://bucket/trace.json")
