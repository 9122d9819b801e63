-- title = "Last collective of each group"
-- doc = """Who entered the last collective of each process group, and who did not. A rank without a trace may have
-- entered it; a rank whose recording ends before may have, later. Groups whose ranks all entered stand in one row for
-- all of them."""
-- cannot = "One rank, no collective, or calls that do not say their group: there is nothing to compare."
-- top = 16
-- leave_out = ["last_call"]
-- kernels = ["last_activity"]
-- [columns]
-- group_name = "process group, where recorded"
-- last = "the group's last collective and its number, as recorded, else its place"
-- entered = "ranks that have it, of those of the group"
-- rank = "rank that does not"
-- state = "what its recording says about the first collective that it lacks"
-- lacks = "that collective"
-- waited_ns = "shortest time that the other ranks spend in that one"
-- last_activity = "what its devices did last"
-- last_op = "operator that its host began last"
-- last_call = "call of the runtime that its host began last"
WITH one AS (
    SELECT team, any_value(group_name) AS group_name, any_value(what) || ' ' || CAST(any_value(number) AS VARCHAR)
        AS last, any_value(n_entered) AS n_entered, any_value(n_expected) AS n_expected,
        count(*) FILTER (state <> 'entered') AS n_absent
    FROM last_collectives GROUP BY team
), listed AS (
    SELECT 0 AS place, l.team, l.group_name, o.last, format('{} of {}', o.n_entered, o.n_expected) AS entered, l.rank,
        CASE WHEN l.is_hung AND l.state = 'recording ends meanwhile' THEN 'never entered: the others wait in it'
            WHEN l.is_hung AND l.state = 'recording ends before'
                THEN format('its recording ends {:.3f} ms before the others enter: they wait in it', l.gap_ns / 1e6)
            WHEN l.state IN ('no trace', 'not looked at', 'file is cut off') THEN CASE l.state
                WHEN 'no trace' THEN 'no readable trace of it' WHEN 'file is cut off' THEN 'its file is cut off'
                ELSE 'not looked at (--rank)' END || if(l.is_hung, '; the others wait in it', '')
            WHEN l.state = 'recording ends before' THEN 'its recording ends before'
            WHEN l.state = 'recording ends meanwhile' THEN 'had not entered when its recording ended'
            ELSE 'not recorded, though its recording goes on' END AS state,
        l.lacks || ' ' || CAST(l.lacks_number AS VARCHAR) AS lacks, l.waited_ns, l.last_activity, l.last_op, l.last_call
    FROM last_collectives l JOIN one o ON o.team = l.team WHERE l.state <> 'entered'
    UNION ALL
    SELECT 1, '', if(count(*) = 1, any_value(group_name), format('{} groups', count(*))),
        if(count(*) = 1, any_value(last), NULL),
        if(count(*) = 1, format('{} of {}', any_value(n_entered), any_value(n_expected)), 'all'),
        NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM one WHERE n_absent = 0 HAVING count(*) > 0
)
SELECT group_name, last, entered, rank, state, lacks, waited_ns, last_activity, last_op, last_call
FROM listed
ORDER BY place, group_name, team, rank
