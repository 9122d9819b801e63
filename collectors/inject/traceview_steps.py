"""Where the steps of a program end, told by what the program does; the same for every framework.

Invariant: only one kind of evidence counts, the best one seen before recording began, and of that kind only the
first object: with two optimizers in a loop (a GAN) a step ends with the first one's `step`, not with both.
"""

import statistics
import weakref

from traceview_python import now_ns

# What can end a step, the weakest evidence first: a model's call, an optimizer's step, the program's own word.
FORWARD, OPTIMIZER, CALL = "forward", "optimizer", "call"
SOURCES = (FORWARD, OPTIMIZER, CALL)
# The program's own word: `sys.audit("traceview.step")`, which does nothing where no collector listens.
CALL_EVENT = "traceview.step"


class Steps:
    """Counts steps and times them; calls `advance(done)` where one ends, with 0 where the first one begins."""

    def __init__(self, advance):
        self.advance = advance
        self.reset()

    def reset(self):
        """Forget all steps: at the start, and in a forked child, whose steps are its own."""
        self.source = FORWARD
        self.owner = None
        self.is_settled = False
        self.begins, self.ends = [], []

    @property
    def is_begun(self):
        """Whether anything of a step was seen."""
        return bool(self.begins)

    def begin(self):
        """The first step begins with the first thing seen of it."""
        if not self.begins:
            self.advance(0)
            self.begins.append(now_ns())

    def prefer(self, source):
        """Evidence of a kind has appeared: if it is better than what ended steps so far, count again from here."""
        if not self.is_settled and SOURCES.index(source) > SOURCES.index(self.source):
            self.source, self.owner = source, None
            self.begins, self.ends = [], []

    def ended(self, source, owner=None):
        """Something of kind `source` ended in the program; a step ends if nothing better is known."""
        if source != self.source or not self.begins:
            return
        if owner is not None:
            if self.owner is None or self.owner() is None:
                self.owner = weakref.ref(owner)
            if self.owner() is not owner:
                return
        self.ends.append(now_ns())
        self.advance(len(self.ends))
        self.begins.append(now_ns())

    def called(self):
        """The program says that a step ended; its first word only tells where steps begin."""
        if self.source == CALL:
            self.ended(CALL)
        else:
            self.prefer(CALL)
            self.begin()

    def summary(self, first):
        """What ended the steps, the number of the first recorded one and how many were recorded whole."""
        return {"source": self.source, "first": first, "recorded": len(self.ends) - first}

    def cost(self, wait, first):
        """Median step time without profiling (not the first step, not the profiler's warm-up) and with, in ns.

        What happens in `advance` itself, setting up and writing, is in neither.
        """
        times = [end - self.begins[index] for index, end in enumerate(self.ends)]
        bare, profiled = times[1:wait], times[first:]
        return {
            "bare_step_ns": int(statistics.median(bare)) if bare else None,
            "bare_steps": len(bare),
            "profiled_step_ns": int(statistics.median(profiled)) if profiled else None,
            "profiled_steps": len(profiled),
        }
