"""Ends of a program's steps, found by what the program does, in one way for every framework.

Invariant: only one kind of evidence counts, the best one seen before recording began, and of that kind only one object:
with two optimizers that step once each in a loop (a GAN) a step ends with the `step` of the last one, once two rounds
told which that is, and until then, or where one steps more often, with the first one's; never with both. Where the
first one steps no more, as after a first stage of training, steps are counted anew with the one that does.
"""

import collections
import statistics
import weakref

from traceview_inject.python import now_ns, unix_ns

# What can end a step, the weakest evidence first: a model's call, a backward pass, an optimizer's step, the program's
# own word.
FORWARD, BACKWARD, OPTIMIZER, CALL = "forward", "backward", "optimizer", "call"
SOURCES = (FORWARD, BACKWARD, OPTIMIZER, CALL)
# The program's own word: `sys.audit("traceview.step")`, which does nothing where no collector listens.
CALL_EVENT = "traceview.step"
# Ends of another optimizer in one round, beyond which the one that counts is taken to step no more (a GAN's judge may
# take five steps in a round), and ends of others that are remembered.
MOST_IN_ROUND, MOST_REMEMBERED = 5, 1000
# Steps after the recording by which those before it are judged, and from which ratio on they had not settled.
SETTLED_STEPS = 8
SETTLED_RATIO = 1.2
# A step that takes longer than this many times the longest recorded one is of a kind that was not recorded.
ALIKE_RATIO = 1.5
# The ratio of two shares of steps from which on they are not alike.
SHARE_RATIO = 1.5


class Steps:
    """Counts steps and times them; calls `advance(done)` where one ends, with 0 where the first one begins."""

    def __init__(self, advance):
        self.advance = advance
        self.reset()

    def reset(self):
        """Forget all steps: at the start, and in a forked child, whose steps are its own."""
        self.source = FORWARD
        self.owner = None
        self.is_settled = self.is_recorded = False
        # Optimizers that counted and were taken to step no more.
        self.left = []
        self.forget()

    def forget(self):
        """Count from here on."""
        self.begins, self.ends = [], []
        self.others, self.between = {}, {}
        # Owners that ended since the one that counts did, in this round and in the one before it.
        self.start_round()
        self.round_before, self.is_turned = [], False
        # Numbers of steps in which another optimizer stepped, too.
        self.shared = set()
        self.is_under_way = False

    def start_round(self):
        """Forget the others that ended since the owner that counts did; no owner is held longer than by the program."""
        self.round = collections.deque(maxlen=MOST_REMEMBERED)

    @property
    def is_begun(self):
        """Whether anything of a step was seen."""
        return bool(self.begins)

    def begin(self):
        """The first step begins with the first thing seen of it."""
        if not self.begins:
            self.advance(0)
            self.begins.append(now_ns())

    def is_better(self, source):
        """Return whether evidence of this kind counts more than what ends steps so far."""
        return SOURCES.index(source) > SOURCES.index(self.source)

    def prefer(self, source):
        """Evidence of a kind has appeared: if it is better than what ended steps so far, count again from here."""
        if not self.is_settled and self.is_better(source):
            self.source, self.owner = source, None
            self.forget()

    def ended(self, source, owner=None):
        """Something of kind `source` ended in the program; returns whether a step did: if nothing better is known."""
        if source != self.source or not self.begins:
            return False
        if owner is not None:
            if self.owner is None or self.owner() is None:
                self.owner = weakref.ref(owner)
            if self.owner() is not owner or self.is_followed():
                self.round.append((weakref.ref(owner), now_ns()))
                if source == OPTIMIZER and self.is_left_to(owner):
                    self.start_over_with(owner)
                return False
            if self.round_before and source == OPTIMIZER:
                self.shared.add(len(self.ends))
        self.ends.append(now_ns())
        self.is_under_way = False
        self.advance(len(self.ends))
        self.begins.append(now_ns())
        return True

    def is_followed(self):
        """Return whether others follow the one that ended, in every round: then the last of them ends a step.

        Unless that one ends several times in a round, as where a GAN's judge takes two steps.
        """
        others, before = [owner for owner, _ in self.round], [owner for owner, _ in self.round_before]
        last = self.round[-1] if self.round else None
        self.round_before = self.round
        self.start_round()
        if self.is_settled or self.is_turned or last is None or others != before:
            return False
        if others.count(last[0]) > 1:
            return False
        self.owner, self.begins[-1] = last
        self.is_turned = True
        return True

    def is_left_to(self, owner):
        """Return whether this one steps again and again without the one that counts, which may count again no more."""
        if self.is_recorded or any(each() is owner for each in self.left):
            return False
        return sum(each() is owner for each, _ in self.round) > MOST_IN_ROUND

    def start_over_with(self, owner):
        """Count anew, the steps that end with this one; what was recorded of the others' does not count."""
        self.left.append(self.owner)
        self.owner = weakref.ref(owner)
        self.forget()
        self.begin()

    def passed(self, thing):
        """Something ended that ends no step: a validation, a metric. The next step begins after it.

        Unless that is under way, or the same came before the last step too: what comes every time is part of a step.
        """
        if self.is_under_way:
            return
        done = len(self.ends)
        before, last = self.others.get(id(thing), (None, None))
        if last != done:
            before = last
            self.others[id(thing)] = (before, done)
        if done and before != done - 1:
            self.begins[done] = now_ns()
            self.between[done] = (self.ends[-1], self.begins[done])

    def called(self):
        """The program says that a step ended; its first word only tells where steps begin."""
        if self.source == CALL:
            self.ended(CALL)
        else:
            self.prefer(CALL)
            self.begin()

    def summary(self, first):
        """Return what ended the steps, the number of the first recorded one, how many were recorded whole, and what ran
        between two of them as [start, end] in ns since 1970.
        """
        zero = unix_ns() - now_ns()
        between = [[zero + at for at in times] for number, times in sorted(self.between.items()) if number >= first]
        return {"source": self.source, "first": first, "recorded": len(self.ends) - first, "between": between}

    def cost(self, wait, first, recorded, since=1):
        """Return the median step time without profiling and with, in ns.

        Without: from step `since` on (not the first one, nor what was recorded before) and not the profiler's warm-up,
        but also steps after the recording, apart from the first of them, which has cold caches. Their quartiles say how
        much they vary, and their mean is comparable with that of the recorded steps: without those that took so long
        that nothing like it was recorded, as where something was compiled. What happens in `advance` itself, setting up
        and writing, is in none. `shared`: how many of the steps with the profiler and without another optimizer had a
        part in, where it is not about the same share of both.
        """
        times = [end - self.begins[index] for index, end in enumerate(self.ends)]
        before, profiled, after = times[since:wait], times[first : first + recorded], times[first + recorded + 1 :]
        bare = sorted(before + after)
        longest = ALIKE_RATIO * max(profiled, default=0)
        alike = [time for time in bare if time <= longest] or bare
        shared = [number in self.shared for number in range(len(times))]
        own, others = shared[first : first + recorded], shared[since:wait] + shared[first + recorded + 1 :]
        return {
            "bare_step_ns": int(statistics.median(bare)) if bare else None,
            "bare_mean_ns": int(statistics.mean(alike)) if alike else None,
            "bare_steps": len(bare),
            "bare_low_ns": bare[len(bare) // 4] if bare else None,
            "bare_high_ns": bare[-1 - len(bare) // 4] if bare else None,
            "unsettled_ns": min(before) if is_unsettled(before, after) else None,
            "settled_ns": int(statistics.median(after)) if is_unsettled(before, after) else None,
            "profiled_step_ns": int(statistics.median(profiled)) if profiled else None,
            "profiled_steps": len(profiled),
            "shared": [sum(own), sum(others)] if is_unlike(own, others) else None,
        }


def is_unsettled(before, after):
    """Return whether every step before the recording took clearly longer than most after it, where there are enough."""
    if len(before) < 2 or len(after) < SETTLED_STEPS:
        return False
    return min(before) > SETTLED_RATIO * sorted(after)[-1 - len(after) // 4]


def is_unlike(some, others):
    """Return whether what holds of some steps holds of a clearly different share of other steps."""
    shares = sorted((sum(some) * len(others), sum(others) * len(some)))
    return shares[1] > SHARE_RATIO * shares[0]
