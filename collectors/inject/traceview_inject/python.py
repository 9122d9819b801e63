"""Replacements for what Python 3.6 and 3.7 lack: collectors also run in the interpreters that old frameworks need.

Invariant: what a collector of an old framework loads is valid for Python 3.6; what is newer is asked for here.
"""

import functools
import multiprocessing
import os
import time


def now_ns():
    """Nanoseconds for the difference of two times."""
    return int(1e9 * time.perf_counter())


def unix_ns():
    """Nanoseconds since 1970, to some hundred."""
    return int(1e9 * time.time())


def product(numbers):
    """All of them multiplied; 1 for none."""
    result = 1
    for number in numbers:
        result *= number
    return result


def follow_forks(after_in_child):
    """Have a function called in every child that this process forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_in_child)
        return
    fork = os.fork

    def followed():
        child = fork()
        if child == 0:
            after_in_child()
        return child

    os.fork = followed


def follow_execs(before):
    """Have a function called before this process becomes another program; Python 3.8 says so itself (`os.exec`)."""
    for name in ("execv", "execve"):
        setattr(os, name, _preceded(getattr(os, name), before))


def _preceded(function, before):
    @functools.wraps(function)
    def called(*args):
        before()
        return function(*args)

    return called


def is_worker():
    """Whether multiprocessing started this process, also while such a process still loads the program."""
    if hasattr(multiprocessing, "parent_process"):
        return multiprocessing.parent_process() is not None
    process = multiprocessing.current_process()
    return process._parent_pid is not None or getattr(process, "_inheriting", False)
