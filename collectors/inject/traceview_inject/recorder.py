"""Follows one process through its steps and records some of them, once; the same for every framework.

A framework's collector brings three things: a tool, which drives the framework's profiler (`prepare`, `start`, `stop`,
`write`, `forget`, `open_step`, `problems`), facts (`see_job`, `collect`, `rank`), and hooks that say what the program
does (`begin`, `prefer`, `step_ended`).

Invariant: the program behaves as without us. An error here ends the recording and not the training, a forked child
never writes its parent's events, and of several frameworks in one process the first to record is the only one.
"""

import atexit
import contextlib
import functools
import multiprocessing.util
import os
import signal
import sys
import threading

from traceview_inject import garbage, gpus, nsight, nvtx, processor, raw, times, tracebacks
from traceview_inject.python import follow_execs, follow_forks, is_worker, now_ns
from traceview_inject.steps import CALL, CALL_EVENT, Steps

WAITING, PREPARED, RECORDING, DONE = range(4)
EXEC_EVENT = "os.exec"
NEVER = -1
WATCHED_STEPS = 32
"""Steps after the recording that are timed, to say what a step takes without a profiler."""


def safely(method):
    """A method of a Recorder, for one thread at a time, whose failure ends the recording instead of the program."""

    @functools.wraps(method)
    def guarded(self, *args):
        with self.lock:
            try:
                return method(self, *args)
            except Exception as error:
                return self.abandon(f"{str(error) or type(error).__name__} (in {method.__name__})")

    return guarded


class Recorder:
    """One framework's recorder; `tool` and `facts` are that framework's."""

    def __init__(self, framework, tool, facts):
        self.framework, self.tool, self.facts = framework, tool, facts
        self.lock = threading.RLock()
        self.options = raw.options()
        self.first = self.options["wait"] + self.options["warmup"]
        self.state = DONE if times.only_options() else WAITING
        self.steps = Steps(self.advance)
        self.step_range = self.sigterm = self.usage = self.thread = None
        self.garbage = garbage.Pauses()
        # Whether such a library validates or predicts: what ends meanwhile does not train.
        self.is_in_library = self.is_evaluating = False
        self.repeats = bool(self.options["every"] or self.options["on_signal"])
        self.since, self.asked, self.published, self.watched_until = 1, 0, None, 0
        self.has_ended = False
        self.times = times.Times(self) if times.wanted() else None

    # What the program does

    @safely
    def begin(self):
        """The first sign of a first step."""
        if self.state == WAITING:
            self.steps.begin()

    @safely
    def expect(self, source):
        """Something is there that may end steps: what has not ended one yet takes no recording away."""
        self.steps.prefer(source)

    @safely
    def prefer(self, source):
        """Something ends steps; it counts if it is better than what is known.

        Then what was recorded without it, as an evaluation before training, does not count. A recording of another
        thread has to end there first.
        """
        if self.steps.is_better(source):
            if self.is_elsewhere:
                return
            if self.state in (PREPARED, RECORDING) or self.is_replaceable:
                self.start_over()
        self.steps.prefer(source)

    @property
    def is_elsewhere(self):
        """Whether another thread records."""
        return self.state == RECORDING and self.thread != threading.get_ident()

    @property
    def is_replaceable(self):
        """Whether a recording was written that another one may replace: nsys writes one alone."""
        return self.published is not None and not self.repeats and not isinstance(self.tool, nsight.Nsight)

    @property
    def is_over(self):
        """Whether the program's calls go straight on: the recording is over, and so is a while after it."""
        return self.state == DONE and not self.watched_until > 0

    def ignores(self, source):
        """Whether the program's calls go straight on, also as evidence that what was recorded is to be replaced."""
        return self.is_over and not (self.is_replaceable and self.steps.is_better(source))

    @property
    def follows(self):
        """Whether what ends counts as a step."""
        return not self.is_over and not self.is_in_library

    @safely
    def step_ended(self, source, owner):
        """An optimizer's step, a model's call or a compiled function's call is over."""
        if self.follows:
            self.steps.ended(source, owner)

    @safely
    def unit_ended(self, source, owner):
        """A compiled function's call or the like is over: a step, or what ran between two of them."""
        if self.follows and not self.steps.ended(source, owner):
            self.steps.passed(owner)

    @safely
    def passed(self, thing):
        """Something is over that ends no step, as a validation."""
        if self.follows:
            self.steps.passed(thing)

    @safely
    def enter_library(self, source):
        """A library on top of the framework (Keras) begins a step; what ends inside is only a part of it."""
        self.prefer(source)
        self.begin()
        self.is_in_library = True

    @safely
    def leave_library(self, source, owner, is_whole):
        """Note that the library's step is over, or was given up."""
        self.is_in_library = False
        if is_whole:
            self.step_ended(source, owner)

    @safely
    def called(self):
        """The program's own word that a step is over; if it comes late, what was recorded without it does not count."""
        if self.state in (PREPARED, RECORDING) and self.steps.source != CALL and not self.is_elsewhere:
            self.start_over()
        if self.follows:
            self.steps.called()

    # For the collector of a framework that marks more than steps

    def close_ranges(self):
        """Close every range that the collector holds open: a step or the recording ends."""

    def collect(self, logs):
        """The facts for `rank-NNNN.meta.json`; `logs` are (path, suffix) of the logs beside the trace."""
        return self.facts.collect(logs)

    # The recording

    def advance(self, done):
        """`done` steps lie behind us: prepare, start, go on or finish."""
        if self.has_ended:
            self.end_program()
        self.close_ranges()
        self.close_step()
        if self.times is not None:
            self.times.advance(done)
            return
        if done >= self.watched_until:
            self.end_watch()
        if self.state == DONE:
            return
        if done == 0 and self.state in (PREPARED, RECORDING):
            self.start_over()
        if self.state == WAITING and self.published and self.is_asked():
            self.first = done + self.options["warmup"]
        if done == self.first - self.options["warmup"] < self.first:
            self.prepare()
        if done == self.first:
            self.start()
        if done == self.first + self.options["steps"]:
            self.finish("complete")
            if self.options["stop_after"] and PROCESS.owner is self:
                self.end_program()
        if self.state == RECORDING:
            self.step_range = self.tool.open_step(done)

    def end_program(self):
        """End the program by an exception; at once, with nothing more of its own, where it caught that and went on."""
        if self.has_ended:
            with contextlib.suppress(Exception):
                PROCESS.at_exit()
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(0)
        self.has_ended = True
        raise SystemExit(0)

    def close_step(self):
        """Close the range of the step that ended."""
        if self.step_range is not None:
            self.step_range.close()
            self.step_range = None

    def is_asked(self):
        """Whether somebody asked for a recording since we last looked."""
        before, self.asked = self.asked, raw.requested() if self.options["on_signal"] else 0
        return self.asked > before

    def prepare(self):
        """Set the profiler up; from here on, what ends a step is settled."""
        self.end_watch()
        if PROCESS.owner not in (None, self):
            self.state = DONE
            return
        PROCESS.owner = self
        self.tool = nsight.instead_of(self.tool)
        self.tool.prepare()
        self.state = PREPARED
        self.steps.is_settled = True

    def start(self):
        """Record from here on, and be ready to save what there is when the program is told to end."""
        if self.state == WAITING:
            self.prepare()
        if self.state != PREPARED:
            return
        self.facts.see_job()
        self.tool.start()
        PROCESS.nvtx.start()
        self.state, self.thread = RECORDING, threading.get_ident()
        self.resident = processor.resident()
        self.gpus, self.usage = gpus.moment(), processor.usage()
        self.garbage = garbage.Pauses()
        self.garbage.start()
        raw.note("recording")
        is_main_thread = threading.current_thread() is threading.main_thread()
        if is_main_thread and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            self.sigterm = self.terminated
            signal.signal(signal.SIGTERM, self.sigterm)

    def start_over(self):
        """Forget the recording, not the program's steps to come."""
        self.end_watch()
        self.close_ranges()
        if self.state == RECORDING:
            PROCESS.nvtx.drop()
            for path, _ in self.tool.stop():
                path.unlink()
            self.let_go()
        self.step_range = PROCESS.owner = None
        self.state = WAITING
        self.steps.is_settled = self.steps.is_recorded = False

    @safely
    def finish(self, ended_by):
        """Stop and write what was recorded, once; `ended_by` is `complete`, or what cut the recording short."""
        if self.state != RECORDING:
            return
        with raw.signals_held():
            started = now_ns()
            used, gpus_used = processor.used_since(self.usage), gpus.since(self.gpus)
            resident = processor.resident()
            self.close_ranges()
            self.state, self.steps.is_recorded = DONE, True
            ranges = PROCESS.nvtx.stop()
            logs = self.tool.stop() + ranges
            cut_step = None if self.step_range is None else len(self.steps.ends)
            trace = self.tool.write(cut_step)
            meta = self.collect(logs)
            meta["warnings"] += self.tool.problems
            meta["ended_by"] = ended_by
            meta["steps"] = self.steps.summary(self.first)
            recorded = len(self.steps.ends) - self.first
            span = self.first - self.options["warmup"], self.first, recorded, self.since
            meta["cost"] = self.steps.cost(*span)
            meta["usage"] = used
            meta["gpus"] = gpus_used
            meta["resident"] = {"start": self.resident, "end": resident}
            meta["garbage"] = self.garbage.stop()
            meta["workers"] = processor.n_workers()
            meta["applied"] = dict(times.SEEN) or None
            meta["cost"]["write_ns"] = now_ns() - started
            place = f"step-{self.first:06}" if self.repeats else ""
            meta["watched"] = ended_by != "complete"
            if self.is_replaceable and recorded < 1:
                # The earlier recording tells more.
                for path, _ in [*logs, *filter(None, [trace])]:
                    path.unlink()
                raw.note("captured", f"rank {self.published[0]}")
            else:
                if self.is_replaceable:
                    raw.withdraw(self.published[0])
                number = raw.publish(self.facts.rank, meta, trace, logs, place)
                if ended_by == "complete":
                    self.published = number, place, meta["cost"], span
                    self.watched_until = len(self.steps.ends) + WATCHED_STEPS
                    if self.repeats:
                        self.wait_again()
            PROCESS.nvtx.resume()
        self.let_go()

    @safely
    def yield_to_own_profiler(self):
        """The program starts its own profiler: ours ends, and is given up where its first step has not."""
        if self.state == RECORDING and len(self.steps.ends) <= self.first and not self.is_replaceable:
            self.start_over()
            self.abandon("the program runs a profiler of its own: give its own trace to `traceview report`")
        self.finish("the program's own profiler")

    def end_watch(self):
        """Say of the steps after the recording what they took; what was written stays as it is where that fails."""
        if self.watched_until > 0:
            self.watched_until = 0
            number, place, cost, span = self.published
            with contextlib.suppress(Exception):
                raw.amend(number, place, cost={**cost, **self.steps.cost(*span)}, watched=True)

    def wait_again(self):
        """Be ready for the next recording: after `every` steps, or on request."""
        done, every = len(self.steps.ends), self.options["every"]
        self.since, self.state = done + 1, WAITING
        if every:
            self.first += every * -((self.first - self.options["warmup"] - done - 1) // every)
        else:
            self.first = NEVER

    @safely
    def finish_times(self, ended_by):
        """Save the times of the steps there were, where steps are timed."""
        if self.times is not None:
            self.times.finish(ended_by)

    def abandon(self, why):
        """Give the recording up, for a reason that the user is told; the program goes on."""
        state, self.state = self.state, DONE
        if PROCESS.owner in (None, self):
            raw.note("failed", why)
        try:
            self.let_go()
            if state == RECORDING:
                PROCESS.nvtx.drop()
                self.tool.stop()
        except Exception as error:
            raw.note("failed", f"{why}; {error}")

    def let_go(self):
        """Take back what the program could notice; its calls still pass through here, and straight on."""
        self.garbage.stop()
        if self.sigterm is not None and signal.getsignal(signal.SIGTERM) == self.sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    # The end of the process

    def ended(self):
        """The process ends: save what was recorded."""
        self.finish("exit")
        self.finish_times("exit")
        self.end_watch()

    def terminated(self, signum, frame):
        """SIGTERM, for which the program has no handler: save what was recorded, then end as without us."""
        self.finish("SIGTERM")
        signal.signal(signum, signal.SIG_DFL)
        os.kill(os.getpid(), signum)

    @safely
    def replaced(self):
        """The process is about to become another program (exec): a partial recording is discarded.

        Should that fail, the program goes on, and its steps are counted anew.
        """
        self.end_watch()
        if self.state == RECORDING:
            raw.note("exec")
        elif self.steps.ends and self.state != DONE and not self.published:
            self.leave_word()
        elif self.state == WAITING:
            return
        raw.turn_page()
        if self.state in (PREPARED, RECORDING):
            self.start_over()
        self.steps.reset()

    def leave_word(self):
        """Say how many steps there were."""
        raw.note("waiting", f"{len(self.steps.ends)} {self.steps.source}")

    def forked(self):
        """In a forked child: its steps are its own, its parent's recording is not, nor what its threads hold."""
        self.lock = threading.RLock()
        if self.state in (PREPARED, RECORDING):
            self.tool.forget()
            self.state = DONE
            self.let_go()
        elif self.state == WAITING:
            self.steps.reset()
            self.first, self.since = self.options["wait"] + self.options["warmup"], 1
            raw.note("framework")
        self.published, self.watched_until, self.has_ended = None, 0, False


class Process:
    """The recorders of this process: Keras and TensorFlow bring other frameworks along, of which one computes."""

    def __init__(self):
        self.recorders = {}
        self.owner = None
        self.nvtx = nvtx.Ranges()

    def follow(self, recorder):
        """Take a framework's recorder in, with everything that concerns the process and no framework."""
        self.recorders[recorder.framework] = recorder
        raw.note("framework")
        if len(self.recorders) > 1:
            return
        self.nvtx.wait()
        if hasattr(sys, "addaudithook"):  # since Python 3.8
            sys.addaudithook(self.told)
        else:
            follow_execs(self.replaced)
        follow_forks(self.forked)
        atexit.register(self.at_exit)
        # Workers of multiprocessing end without atexit: its own finalizers are run, and set up again after a fork.
        multiprocessing.util.register_after_fork(self, Process.finalize)
        if is_worker():
            self.finalize()

    def told(self, event, args):
        """Handle an audit event of Python: a step that the program marks is over, or an exception ends it."""
        if event == CALL_EVENT:
            self.busiest().called()
        elif event == EXEC_EVENT:
            self.replaced()
        elif event == tracebacks.EVENT:
            with contextlib.suppress(Exception):
                tracebacks.forget_frames(args[2])

    def busiest(self):
        """The recorder of the framework that computes: the one at work, with the most steps, or imported last."""
        recorders = list(self.recorders.values())
        return max(
            reversed(recorders), key=lambda each: (each is self.owner, each.steps.is_begun, len(each.steps.ends))
        )

    def replaced(self):
        """The process is about to become another program, which keeps its number and is recorded by itself."""
        for recorder in self.recorders.values():
            recorder.replaced()

    def forked(self):
        """In a forked child."""
        self.owner = self.nvtx.path = None
        for recorder in self.recorders.values():
            recorder.forked()

    def at_exit(self):
        """The process ends: save what was recorded, or leave word why there is nothing."""
        for recorder in self.recorders.values():
            recorder.ended()
        busiest = self.busiest()
        recorders = self.recorders.values()
        if all(each.state in (WAITING, PREPARED) and not each.published for each in recorders):
            busiest.leave_word()

    def finalize(self):
        """Have multiprocessing call `at_exit` at the end of this worker."""
        multiprocessing.util.Finalize(None, self.at_exit, exitpriority=100)


PROCESS = Process()
