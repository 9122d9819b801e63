"""Takes the collector's own frames out of the traceback that Python is about to print for an uncaught exception.

What a collector wraps (a model's call, an optimizer's step) stands between the program's frames. Invariant: what the
program prints when it fails is what it prints without us; the exception itself stays as it is.
"""

import os

COLLECTORS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # noqa: PTH100, PTH120
EVENT = "sys.excepthook"


def forget_frames(error):
    """Drop our frames from an exception and all that it came from; the first frame of each is never ours."""
    waiting, seen = [error], set()
    while waiting:
        error = waiting.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        waiting += [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
        entry = error.__traceback__
        while entry is not None and entry.tb_next is not None:
            if entry.tb_next.tb_frame.f_code.co_filename.startswith(COLLECTORS):
                entry.tb_next = entry.tb_next.tb_next
            else:
                entry = entry.tb_next
