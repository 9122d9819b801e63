"""Options for an ONNX Runtime program: one function for each, called when it was imported."""

import onnxruntime

from traceview_inject.options import THE_SAME, change_arguments, cores


def onnxruntime_graph(say):
    """All graph optimisations."""
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    setting(say, lambda options: options.graph_optimization_level, level, "graph_optimization_level")


def onnxruntime_threads(say):
    """As many threads as cores; 0 means that too."""

    def threads(options):
        return options.intra_op_num_threads or cores()

    setting(say, threads, cores(), "intra_op_num_threads")


def onnxruntime_memory(say):
    """An arena, and a plan of what lies where."""

    def change(options):
        if options.enable_cpu_mem_arena and options.enable_mem_pattern:
            return THE_SAME
        options.enable_cpu_mem_arena = options.enable_mem_pattern = True
        return "yes: enable_cpu_mem_arena and enable_mem_pattern"

    change_options(say, change)


def onnxruntime_sleep(say):
    """Threads sleep while they wait."""
    entry(say, "session.intra_op.allow_spinning", "0")


def onnxruntime_denormals(say):
    """Denormal numbers are flushed."""
    entry(say, "session.set_denormal_as_zero", "1")


def setting(say, get, value, name):
    """One attribute of a session's options."""

    def change(options):
        before = get(options)
        if before == value:
            return THE_SAME
        setattr(options, name, value)
        return f"yes: {name} is {value}, was {before}"

    change_options(say, change)


def entry(say, name, value):
    """One entry of a session's configuration."""

    def change(options):
        try:
            if options.get_session_config_entry(name) == value:
                return THE_SAME
        except RuntimeError:
            pass  # There is none.
        options.add_session_config_entry(name, value)
        return f"yes: {name} is {value}"

    change_options(say, change)


def change_options(say, change):
    """Change the options of every session that is made."""

    def changed(made, arguments):
        # One for all changes of a session that the program gives none.
        options = arguments["sess_options"] or vars(made).setdefault("traceview_options", onnxruntime.SessionOptions())
        text = change(options)
        if text.startswith("no"):
            return say(text)
        return {"sess_options": options}, lambda said: say(text if said.startswith("yes") else said)

    change_arguments(onnxruntime.InferenceSession, changed)
