-- title = "A rank is awaited that does not come"
-- doc = """Ranks wait in a collective that another rank of their group has no record of, for a second or more and ten
-- times as long as usual. The bound is the time that they spend in it, once per run. Where a trace of the job is
-- missing and none waits so long, the answer is cannot tell."""
-- why = """A collective cannot end before every rank of its group has entered it. A rank that failed, that is stuck in
-- something else, or that took another way through the program holds up all others until they give up."""
-- cost = "None."
-- unless = "The rank's recording ended before it entered, and the wait has another cause."
-- per = "run"
-- needs = ["several_ranks"]
-- [fix]
-- pytorch = """look at the output and the Python stack (py-spy dump) of that rank; TORCH_NCCL_TRACE_BUFFER_SIZE=2000
-- records the last collectives of every rank; a condition that differs between ranks must not decide whether a
-- collective is called"""
-- any = """look at the output and the stack of that rank; a condition that differs between ranks must not decide
-- whether a collective is called"""
WITH absent AS (
    SELECT team, lacks, lacks_number, state, any_value(group_name) AS group_name, any_value(n_waiting) AS n_waiting,
        list(rank ORDER BY rank) AS ranks, any_value(last_activity) AS last_activity, any_value(last_op) AS last_op,
        any_value(last_call) AS last_call
    FROM last_collectives WHERE is_hung AND state NOT IN ('recording goes on', 'not looked at')
    GROUP BY team, lacks, lacks_number, state
), waited AS (
    SELECT rank, team, what, sum(dur_ns) AS wait_ns FROM hung_calls GROUP BY rank, team, what
), longest AS (
    SELECT w.rank, a.*, w.wait_ns, row_number() OVER (PARTITION BY w.rank ORDER BY w.wait_ns DESC,
        -- Of several that one call waits for the one of which more is known.
        list_position(['recording ends meanwhile', 'recording ends before', 'file is cut off', 'no trace'], a.state),
        a.team, a.lacks_number) AS place
    FROM waited w JOIN absent a ON a.team = w.team AND a.lacks = w.what
)
SELECT rank, format('Rank{} {} {} {} {}{}; {} rank{} in it.', if(len(ranks) = 1, '', 's'),
    array_to_string(ranks[:8], ', ') || if(len(ranks) > 8, format(' and {} more', len(ranks) - 8), ''),
    CASE state WHEN 'recording ends meanwhile' THEN 'never entered'
        WHEN 'no trace' THEN '(without a readable trace) may never have entered'
        WHEN 'file is cut off' THEN '(its file is cut off) may never have entered'
        ELSE 'had stopped recording before' END,
    lacks, lacks_number,
    coalesce(' of group ' || group_name, ''), n_waiting, if(n_waiting = 1, ' waits', 's wait')) AS problem,
    format('{} {}{}', lacks, lacks_number, coalesce(' of group ' || group_name, '')) AS place, wait_ns AS saving_ns,
    CASE state WHEN 'recording ends meanwhile'
            THEN 'high: its recording goes on while the others wait, without the call'
        WHEN 'no trace' THEN 'low: nothing of that rank was read, and a first call may last long by itself'
        WHEN 'file is cut off' THEN 'low: the file of that rank does not hold all that was recorded'
        ELSE 'medium: its recording ends before the others enter' END AS confidence,
    list_filter(['last on its device: ' || last_activity, 'last operator of its host: ' || last_op,
        'last call of the runtime: ' || last_call], lambda x: x IS NOT NULL) AS evidence
FROM longest WHERE place = 1
UNION ALL
SELECT min(s.rank), NULL, NULL, NULL,
    any_value(m.told) || ': which collectives were entered there is not known, though no call lasts as if ranks '
        || 'waited in vain', NULL
FROM missing_ranks m, scope s WHERE NOT EXISTS (FROM longest) HAVING count(*) > 0
ORDER BY rank
