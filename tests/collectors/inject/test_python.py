"""The stand-ins for what old Pythons lack, and how they fare without it."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time

import pytest


@pytest.fixture
def python(inject):
    return importlib.import_module("traceview_inject.python")


def test_clocks_count_nanoseconds(python):
    assert abs(python.unix_ns() - time.time_ns()) < 1e9
    begin = python.now_ns()
    time.sleep(0.01)
    assert 9e6 < python.now_ns() - begin < 1e10


def test_product(python):
    assert (python.product([]), python.product((3, 4, 5))) == (1, 60)


def test_forks_are_followed_without_python_3_7(python, monkeypatch):
    monkeypatch.delattr(os, "register_at_fork")
    monkeypatch.setattr(os, "fork", os.fork)  # so that it is put back
    seen = []
    python.follow_forks(lambda: seen.append(os.getpid()))
    child = os.fork()
    if child == 0:
        os._exit(0 if seen == [os.getpid()] else 1)
    assert os.waitpid(child, 0)[1] == 0 and seen == []


def test_programs_that_replace_this_one_are_announced_without_python_3_8(python, monkeypatch):
    for name in ("execv", "execve"):
        monkeypatch.setattr(os, name, getattr(os, name))  # so that they are put back
    seen = []
    python.follow_execs(lambda: seen.append("exec"))
    with pytest.raises(FileNotFoundError):
        os.execlp("no-such-program", "no-such-program")
    assert set(seen) == {"exec"}


def test_workers_are_known_without_python_3_8(python, monkeypatch):
    monkeypatch.delattr(multiprocessing, "parent_process")
    assert python.is_worker() is False
    monkeypatch.setattr(multiprocessing.current_process(), "_parent_pid", 1)
    assert python.is_worker() is True
