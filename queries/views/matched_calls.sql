-- doc = """Every communication call, with the calls of other ranks that are the same collective: by group and sequence
-- number where both are recorded; else by kind and order within the step (without steps within the recording), which
-- holds only where all ranks have as many. What is not matched says why."""
-- materialize = true
-- whole_job = true
-- [columns]
-- match_id = "what the calls of one collective share; NULL where it is not matched"
-- matched_by = "group and sequence, or kind and order"
-- unmatched = "why it is not matched"
-- n_found = "ranks that have it"
-- n_expected = "ranks of its group: as recorded, else those of the capture"
WITH called AS (
    SELECT *, coalesce(group_name, '') AS team, group_name IS NOT NULL AND sequence IS NOT NULL AS is_numbered,
        -- All ranks enter before any leaves; in others a rank goes on when its own part is done.
        what IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier') AS is_together
    FROM exchanges
), keyed AS (
    SELECT *, if(is_numbered, sequence, NULL) AS number, if(is_numbered, NULL, step) AS place FROM called
), ordered AS (
    SELECT *, row_number() OVER (same ORDER BY start_ns, id) AS nth, count(*) OVER same AS n_own
    FROM keyed WINDOW same AS (PARTITION BY rank, what, team, is_numbered, number, place)
), found AS (
    SELECT *, count(*) OVER one AS n_found, min(id) OVER one AS lowest_id,
        min(n_own) OVER every = max(n_own) OVER every AS is_even,
        coalesce(group_size, (SELECT count(*) FROM raw.ranks)) AS n_expected
    FROM ordered
    WINDOW one AS (PARTITION BY what, team, is_numbered, number, place, nth),
        every AS (PARTITION BY what, team, is_numbered, number, place)
), judged AS (
    SELECT *, CASE WHEN NOT is_together THEN 'not a collective in which all ranks wait for each other'
        WHEN n_found > n_expected THEN 'groups that cannot be told apart'
        WHEN is_numbered AND n_found < 2 THEN 'recorded on one rank only'
        WHEN NOT is_numbered AND (NOT is_even OR n_found < n_expected) THEN 'the ranks do not have as many'
        WHEN n_found < 2 THEN 'recorded on one rank only' END AS unmatched
    FROM found
)
SELECT id, rank, what, group_name, team, sequence, step, size_bytes, start_ns, end_ns, dur_ns, own_ns, hidden_ns,
    exposed_ns, is_counted, per, step_ns, n_found, n_expected,
    if(is_numbered, 'group and sequence', 'kind and order') AS matched_by, unmatched,
    if(unmatched IS NULL, lowest_id, NULL) AS match_id
FROM judged
