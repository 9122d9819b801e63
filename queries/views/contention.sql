-- doc = """Processes that ran on a CPU: the processor time that they got against the time that their operators took. In
-- every operator at least one thread computes, so less processor time than operator time means that the threads waited
-- for a processor, or for another process of the run (a compiler). Where others or a hypervisor had the cores for half
-- of the missing time, or that is not recorded, the machine was busy with something else, and times of that run say
-- little about it when idle."""
-- materialize = true
-- [columns]
-- rank = "process of the job"
-- operators_ns = "wall time in operators and primitives while recording, those inside one another counted once"
-- processor_ns = "processor time of all its threads meanwhile; NULL where not recorded"
-- received_pct = "processor time, of the operators' time: above 100 where several threads computed"
-- is_contended = """below 80 %, and others had the cores for half of the missing time at least, as far as that is
-- recorded; NULL where the processor time is not"""
SELECT rank, operators_ns, processor_ns, 100.0 * processor_ns / operators_ns AS received_pct,
    processor_ns < 0.8 * operators_ns
        -- While a thread waits for a core, all of them are busy; a hypervisor takes one alone.
        AND coalesce(others_ns >= 0.5 * (operators_ns - processor_ns), true) AS is_contended
FROM (
    SELECT b.rank, p.user_ns + p.system_ns AS processor_ns,
        if(any_value(p.host_ns) > 0, any_value((p.busy_ns - p.stolen_ns - p.own_ns) / p.host_cores + p.stolen_ns), NULL)
            AS others_ns, CAST(least(sum(b.alone_ns), any_value(p.recorded_ns)) AS BIGINT) AS operators_ns
    FROM busy b JOIN processes p USING (rank)
    WHERE b.rank NOT IN (SELECT rank FROM raw.kernels)
    GROUP BY b.rank, p.user_ns, p.system_ns
)
