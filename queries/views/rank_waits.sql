-- doc = """Matched collectives, each call with what of it was waiting for the last rank and what was transfer, on one
-- clock. Ranks of one host share a clock, unless a rank would leave before another one came. Else a rank's clock is
-- moved by the median, over the 41 nearest collectives of its group, of how much later its calls end than those of the
-- group's lowest rank: all leave a collective at nearly the same time. What is left of these differences is the error;
-- a move that is smaller is not made. Of a collective that a rank of its group has no record of it
-- is not known who came last: what depends on that is NULL."""
-- materialize = true
-- empty_without = ["matched_calls"]
-- types = """id BIGINT, match_id BIGINT, rank INTEGER, what VARCHAR, group_name VARCHAR, team VARCHAR,
-- sequence BIGINT, step BIGINT, matched_by VARCHAR, n_found BIGINT, n_expected BIGINT, is_complete BOOLEAN,
-- size_bytes BIGINT, start_ns BIGINT, end_ns BIGINT, dur_ns BIGINT, own_ns BIGINT, hidden_ns BIGINT,
-- exposed_ns BIGINT, is_counted BOOLEAN, per BIGINT, step_ns BIGINT, clock VARCHAR, moved_ns BIGINT, error_ns BIGINT,
-- last_ns BIGINT, last_rank INTEGER, wait_ns BIGINT, transfer_ns BIGINT, collective_ns DOUBLE, skew_ns BIGINT,
-- lead_ns BIGINT, is_last BOOLEAN, step_wait_ns BIGINT, step_transfer_ns BIGINT, step_exposed_ns BIGINT,
-- others_ns BIGINT"""
-- [columns]
-- clock = "one host, as recorded (differences are within the error), or aligned by the ends of collectives"
-- moved_ns = "what is taken from the rank's times"
-- error_ns = "half of the range of 80 % of what then still differs; NULL with fewer than three collectives"
-- start_ns = "start on the common clock"
-- end_ns = "end on the common clock"
-- last_ns = "start of the last rank"
-- last_rank = "the last rank, by however little"
-- wait_ns = "until the last rank came"
-- transfer_ns = "the rest of the call"
-- collective_ns = "transfer of the collective: median over the ranks"
-- skew_ns = "between the first and the last start"
-- lead_ns = "between the last start and the one before"
-- is_last = "whether it is the last one, by more than the error"
-- step_wait_ns = "the part of wait_ns inside steps that count: what is outside is at the end of a call"
-- step_transfer_ns = "the part of transfer_ns inside them"
-- step_exposed_ns = "the part of exposed_ns inside them"
-- others_ns = "step_wait_ns of all other ranks together"
WITH call AS (
    SELECT m.*, r.host, first_value(m.rank) OVER one AS reference, first_value(r.host) OVER one AS reference_host,
        m.end_ns - first_value(m.end_ns) OVER one AS later_ns,
        min(m.end_ns) OVER (PARTITION BY match_id) >= max(m.start_ns) OVER (PARTITION BY match_id) AS is_possible
    FROM matched_calls m JOIN raw.ranks r USING (rank)
    WHERE m.match_id IS NOT NULL
    WINDOW one AS (PARTITION BY m.match_id ORDER BY m.rank)
), near AS (
    SELECT *, median(later_ns) OVER (PARTITION BY rank, team, reference ORDER BY start_ns, id
        ROWS BETWEEN 20 PRECEDING AND 20 FOLLOWING) AS near_ns,
        bool_and(is_possible) OVER (PARTITION BY team) AND host IS NOT NULL AND host = reference_host AS is_one_host
    FROM call
), spread AS (
    SELECT rank, team, reference, any_value(is_one_host) AS is_one_host, max(abs(near_ns)) AS most_ns,
        CASE WHEN rank = reference THEN 0 WHEN count(*) >= 3
            THEN (quantile_cont(later_ns - near_ns, 0.9) - quantile_cont(later_ns - near_ns, 0.1)) / 2 END AS error_ns
    FROM near GROUP BY rank, team, reference
), judged AS (
    SELECT rank, team, reference, CASE WHEN is_one_host THEN 'one host' WHEN most_ns <= error_ns THEN 'as recorded'
        ELSE 'aligned by the ends of collectives' END AS clock,
        if(is_one_host, 0, error_ns) AS error_ns
    FROM spread
), moved AS (
    SELECT n.*, j.clock, CAST(if(j.clock LIKE 'aligned%', n.near_ns, 0) AS BIGINT) AS moved_ns,
        CAST(max(j.error_ns) OVER (PARTITION BY n.match_id) AS BIGINT) AS match_error_ns,
        CAST(j.error_ns AS BIGINT) AS error_ns
    FROM near n JOIN judged j ON j.rank = n.rank AND j.team = n.team AND j.reference = n.reference
), placed AS (
    SELECT * REPLACE (start_ns - moved_ns AS start_ns, end_ns - moved_ns AS end_ns) FROM moved
), arrived AS (
    SELECT *, if(is_complete, max(start_ns) OVER one, NULL) AS last_ns, min(start_ns) OVER one AS first_ns,
        nth_value(start_ns, 2) OVER latest AS before_last_ns, row_number() OVER latest = 1 AS comes_last,
        first_value(rank) OVER latest AS last_rank
    FROM placed
    WINDOW one AS (PARTITION BY match_id), latest AS (PARTITION BY match_id ORDER BY start_ns DESC, rank
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
), divided AS (
    SELECT *, if(is_complete, least(greatest(last_ns - start_ns, 0), dur_ns), NULL) AS wait_ns,
        dur_ns - own_ns + step_own_ns AS inside_ns, least(wait_ns, inside_ns) AS step_wait_ns
    FROM arrived
)
SELECT id, match_id, rank, what, group_name, team, sequence, step, matched_by, n_found, n_expected, is_complete,
    size_bytes,
    start_ns, end_ns, dur_ns, own_ns, hidden_ns, exposed_ns, is_counted, per, step_ns, clock, moved_ns, error_ns,
    last_ns, last_rank, wait_ns,
    dur_ns - wait_ns AS transfer_ns, median(dur_ns - wait_ns) OVER (PARTITION BY match_id) AS collective_ns,
    last_ns - first_ns AS skew_ns, last_ns - before_last_ns AS lead_ns,
    coalesce(comes_last AND last_ns - before_last_ns > coalesce(match_error_ns, 0), false) AS is_last,
    step_wait_ns, inside_ns - step_wait_ns AS step_transfer_ns, step_exposed_ns,
    (sum(step_wait_ns) OVER (PARTITION BY match_id))::BIGINT - step_wait_ns AS others_ns
FROM divided
