-- doc = """Whether the machine was busy while a run on a CPU was recorded: its threads had less than nine tenths of
-- the processor time that they could use, and more than 20 times a second another process took a processor away."""
-- [columns]
-- run = "number of the run"
-- used_pct = "processor time, of that which its threads can have in the time recorded"
-- is_busy = "whether the machine was busy; NULL where it is not recorded"
SELECT run, used_pct, used_pct < 90 AND preempted_per_s > 20 AS is_busy,
    format('{} had {:.0f} % of the processor time that its {:d} thread{} can use{} and was '
        || 'interrupted {:.0f} times a second', chr(CAST(65 + run AS INTEGER)), used_pct, threads,
        if(threads = 1, '', 's'),
        coalesce(format(' ({:.1f} ms per step)', cpu_ns / nullif(recorded_steps, 0) / 1e6), ''),
        preempted_per_s) AS text
FROM (
    SELECT run, cpu_ns, recorded_steps, CAST(least(threads, coalesce(cores, threads)) AS BIGINT) AS threads,
        100.0 * cpu_ns / nullif(recorded_ns * least(threads, coalesce(cores, threads)), 0) AS used_pct,
        1e9 * preempted / nullif(recorded_ns, 0) AS preempted_per_s
    FROM run WHERE is_cpu
)
