-- doc = """Whether the machine was busy in most recordings of a run on a CPU: its threads had less than nine tenths of
-- the processor time that they could use, and more than 20 times a second another process took a processor away, or
-- others had the processors for which its operators waited."""
-- [columns]
-- run = "number of the run"
-- is_busy = "whether the machine was busy; false where it is not recorded"
-- text = "how much processor time it had"
SELECT run, 2 * count(*) FILTER (is_busy) > count(*) AS is_busy, if(count(*) = 1, any_value(text),
    format('in {:d} of {:d} recordings {} had {:.0f} to {:.0f} % of the processor time that its threads can use',
        count(*) FILTER (is_busy), count(*), any_value(label), min(used_pct) FILTER (is_busy),
        max(used_pct) FILTER (is_busy))) AS text
FROM (
    SELECT run, chr(CAST(65 + run AS INTEGER)) AS label, used_pct,
        used_pct < 90 AND (preempted_per_s > 20 OR is_contended) AS is_busy,
        format('{} had {:.0f} % of the processor time that its {:d} thread{} can use{}{}', label, used_pct, threads,
            if(threads = 1, '', 's'),
            coalesce(format(' ({:.1f} ms per step)', cpu_ns / nullif(recorded_steps, 0) / 1e6), ''),
            coalesce(format(' and was interrupted {:.0f} times a second', preempted_per_s), '')) AS text
    FROM (
        SELECT run, cpu_ns, recorded_steps, is_contended,
            CAST(least(threads, coalesce(cores, threads)) AS BIGINT) AS threads,
            100.0 * cpu_ns / nullif(recorded_ns * least(threads, coalesce(cores, threads)), 0) AS used_pct,
            1e9 * preempted / nullif(recorded_ns, 0) AS preempted_per_s
        FROM recording WHERE is_cpu
    )
)
GROUP BY run
