-- title = "Functions"
-- doc = """One row per function and rank, the most compiled first; the rest of a function after a graph break is a
-- function of its own, and so is each graph of compiled autograd (!). How often and how long is known of recordings of
-- `traceview collect`, from the start of the program until the recording was over; of other traces the graphs that were
-- called."""
-- cannot = "This trace marks no code of torch.compile by the number of its graph."
-- leave_out = ["operators", "rank"]
-- [columns]
-- rank = "process of the job"
-- function = "file, line and function; the number of the frame where these are not recorded"
-- graphs = "graphs that were compiled for it, or that the trace has calls of"
-- recompilations = "compilations after the first; where only calls are recorded, the least number"
-- compile_ns = "time of compiling"
-- in_steps_ns = "of it of compilations during recorded steps that count"
-- operators = "operators of its largest graph"
-- calls = "calls in the recording"
-- failed = "why a compilation failed: calls that its graphs do not fit run operator by operator"
SELECT rank, coalesce(format('{}({}): {}', any_value(file), any_value(line), any_value(function)),
        'frame ' || mark || frame) AS function,
    count(*) FILTER (failed IS NULL) AS graphs,
    if(bool_or(is_noted), count(*) FILTER (attempt > 0 AND failed IS NULL), max(attempt)) AS recompilations,
    CAST(sum(compile_ns) AS BIGINT) AS compile_ns,
    CAST(if(bool_or(is_in_steps IS NOT NULL), coalesce(sum(compile_ns) FILTER (is_in_steps), 0), NULL) AS BIGINT)
        AS in_steps_ns,
    max(operators) AS operators, CAST(sum(calls) AS BIGINT) AS calls, arg_max(failed, attempt) AS failed
FROM (SELECT *, regexp_extract(graph, '^!\d+/') AS mark FROM compiled_graphs)
GROUP BY rank, frame, mark
ORDER BY graphs DESC, compile_ns DESC NULLS LAST, rank, frame, mark
