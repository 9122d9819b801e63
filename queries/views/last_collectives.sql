-- doc = """The last collective of each process group and whether each rank of the group entered it. Of a rank that did
-- not: the first one of the group that it has no record of, whether its recording covers that, and what it did last."""
-- materialize = true
-- whole_job = true
-- [columns]
-- team = "the group, as in matched_calls"
-- number = "sequence number of the group's last collective; where none is recorded its place in the recording"
-- n_entered = "ranks that have it"
-- n_expected = "ranks of the group"
-- is_hung = "whether the ranks that entered the first one that this rank lacks wait in it: see hung_calls"
-- waited_ns = "the shortest time that they spend in it"
-- state = """entered; no trace; not looked at (--rank); file is cut off; or where its recording ends beside the first
-- one that it lacks"""
-- own_number = "the last one of the rank"
-- lacks_number = """the first one that the rank lacks after its own last one; without a trace, or where its file is cut
-- off, the first in which others wait"""
-- lacks = "its kind"
-- gap_ns = "from the end of the rank's recording to the first start of that one on another rank"
-- last_activity = "what its devices did last"
-- last_op = "operator that its host began last"
-- last_call = "call of the runtime that its host began last"
WITH placed AS (
    SELECT m.team, m.group_name, m.group_ranks, m.group_size, m.n_expected, m.rank, m.what, m.sequence, m.step, m.id,
        m.start_ns - coalesce(c.moved_ns, 0) AS at_ns, m.dur_ns,
        row_number() OVER (PARTITION BY m.rank, m.team, m.step ORDER BY m.start_ns, m.id) AS nth
    FROM matched_calls m LEFT JOIN rank_clocks c ON c.rank = m.rank
    WHERE m.n_expected > 1 AND m.what NOT IN ('send', 'recv', 'send_recv', '(unknown)')
), call AS (
    SELECT *, coalesce(sequence, dense_rank() OVER (PARTITION BY team ORDER BY step NULLS FIRST, nth)) AS number
    FROM placed
), entry AS (
    SELECT c.team, c.number, any_value(c.what) AS what, min(c.at_ns) AS first_ns, max(c.at_ns + c.dur_ns) AS end_ns,
        min(c.dur_ns) AS least_ns, count(DISTINCT c.rank) AS n_entered, bool_or(h.id IS NOT NULL) AS is_hung
    FROM call c LEFT JOIN hung_calls h ON h.id = c.id
    GROUP BY c.team, c.number
), team AS (
    SELECT team, any_value(group_name) AS group_name, max(n_expected) AS n_expected, max(number) AS number,
        any_value(group_ranks) AS group_ranks
    FROM call GROUP BY team
), member AS (
    SELECT t.team, unnest(coalesce(
        -- Lists of many ranks are abridged by the profiler.
        TRY_CAST(TRY(CAST(t.group_ranks AS JSON)) AS BIGINT[]),
        if(t.n_expected = j.world_size, range(j.world_size), NULL), s.seen))
        AS rank
    FROM team t CROSS JOIN (SELECT greatest(max(world_size), count(*)) AS world_size FROM raw.ranks) j
    JOIN (SELECT team, list(DISTINCT rank) AS seen FROM call GROUP BY team) s ON s.team = t.team
), own AS (
    SELECT team, rank, max(number) AS number FROM call GROUP BY team, rank
), reached AS (
    SELECT m.team, m.rank, t.group_name, t.n_expected, t.number, o.number AS own_number, r.end_ns - coalesce(c.moved_ns,
        0) AS until_ns, r.rank IS NOT NULL AS has_trace,
        m.rank IN (SELECT rank FROM quality WHERE contains(kind, 'cut off')) AS is_cut
    FROM member m JOIN team t ON t.team = m.team LEFT JOIN own o ON o.team = m.team AND o.rank = m.rank
    LEFT JOIN recorded_until r ON r.rank = m.rank LEFT JOIN rank_clocks c ON c.rank = m.rank
), lacking AS (
    SELECT r.team, r.rank, min(e.number) AS lacks_number
    FROM reached r JOIN entry e ON e.team = r.team AND e.number > coalesce(r.own_number, -1)
    -- A rank without a trace, or with a part of it, may have entered all but those in which the others wait.
    WHERE r.own_number IS DISTINCT FROM r.number AND (r.has_trace AND NOT r.is_cut OR e.is_hung)
    GROUP BY r.team, r.rank
), did AS (
    SELECT p.rank, any_value(p.name) AS last_activity, max(o.name) AS last_op, max(a.name) AS last_call
    FROM (SELECT rank, arg_max(name, start_ns) AS name FROM performed WHERE rank IN (SELECT rank FROM lacking)
        GROUP BY rank) p
    LEFT JOIN (SELECT rank, arg_max(name, start_ns) AS name FROM raw.ops GROUP BY rank) o ON o.rank = p.rank
    LEFT JOIN (SELECT rank, arg_max(name, start_ns) AS name FROM raw.api_calls GROUP BY rank) a ON a.rank = p.rank
    GROUP BY p.rank
)
SELECT r.team, r.group_name, r.rank, r.number, g.what, g.n_entered, r.n_expected, r.own_number, l.lacks_number,
    e.what AS lacks, coalesce(e.is_hung, false) AS is_hung, e.least_ns AS waited_ns, e.n_entered AS n_waiting,
    CASE WHEN NOT r.has_trace THEN if(getvariable('chosen') IS NULL, 'no trace', 'not looked at')
        WHEN r.own_number = r.number THEN 'entered'
        -- Events of a file are not in order of time.
        WHEN r.is_cut THEN 'file is cut off'
        WHEN r.until_ns <= e.first_ns THEN 'recording ends before' WHEN r.until_ns < e.end_ns
            THEN 'recording ends meanwhile' ELSE 'recording goes on' END AS state,
    e.first_ns - r.until_ns AS gap_ns, d.last_activity, d.last_op, d.last_call
FROM reached r JOIN entry g ON g.team = r.team AND g.number = r.number
LEFT JOIN lacking l ON l.team = r.team AND l.rank = r.rank
LEFT JOIN entry e ON e.team = r.team AND e.number = l.lacks_number
LEFT JOIN did d ON d.rank = r.rank AND l.rank IS NOT NULL
