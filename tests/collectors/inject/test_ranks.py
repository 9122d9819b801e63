"""Rank and size out of the environment of every launcher."""

from __future__ import annotations

import os

import pytest

TF_CONFIG = '{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": "1"}}'


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, (None, None)),
        ({"RANK": "3", "WORLD_SIZE": "4"}, (3, 4)),
        ({"RANK": "0"}, (0, 1)),
        ({"RANK": "first"}, (None, None)),
        ({"HOROVOD_RANK": "1", "HOROVOD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, (1, 2)),
        ({"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "8"}, (5, 8)),
        ({"PMI_RANK": "1", "PMI_SIZE": "none"}, (1, 1)),
        ({"DMLC_ROLE": "worker", "DMLC_WORKER_ID": "1", "DMLC_NUM_WORKER": "2"}, (1, 2)),
        ({"DMLC_ROLE": "server", "DMLC_WORKER_ID": "1", "DMLC_NUM_WORKER": "2"}, (None, None)),
        ({"TF_CONFIG": TF_CONFIG}, (2, 3)),
        ({"TF_CONFIG": "[1]", "RANK": "1", "WORLD_SIZE": "2"}, (1, 2)),
    ],
)
def test_the_place_in_a_job(
    variables: dict[str, str], place: tuple[int | None, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    from traceview_inject import ranks

    for name in list(os.environ):
        if name.endswith("RANK") or name.startswith("DMLC_") or name == "TF_CONFIG":
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ranks.launched() == place
