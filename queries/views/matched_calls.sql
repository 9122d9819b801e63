-- doc = """Every communication call, with the calls of other ranks that are the same collective: by group and sequence
-- number where both are recorded; else by kind and order within the step (without steps within the recording), which
-- holds only where all ranks have as many, and where the ranks tell of no more than one group. What is not matched
-- says why."""
-- materialize = true
-- whole_job = true
-- empty_without = ["exchanges"]
-- types = """id BIGINT, rank INTEGER, what VARCHAR, group_name VARCHAR, group_ranks VARCHAR, group_size BIGINT,
-- group_description VARCHAR, team VARCHAR, sequence BIGINT, step BIGINT, phase VARCHAR, size_bytes BIGINT,
-- start_ns BIGINT, end_ns BIGINT, dur_ns BIGINT,
-- own_ns BIGINT, hidden_ns BIGINT, exposed_ns BIGINT, step_own_ns BIGINT, step_exposed_ns BIGINT,
-- is_counted BOOLEAN, per BIGINT, step_ns BIGINT, is_together BOOLEAN, nth BIGINT,
-- n_found BIGINT, n_expected BIGINT, is_complete BOOLEAN, matched_by VARCHAR, unmatched VARCHAR, match_id BIGINT"""
-- [columns]
-- group_description = "what the program calls the group, where recorded"
-- team = "the group: its name and the ranks in it, as far as both are recorded"
-- phase = "pass that launched it, where known"
-- match_id = "what the calls of one collective share; NULL where it is not matched"
-- matched_by = "group and sequence, or kind and order"
-- unmatched = "why it is not matched"
-- is_together = "whether no rank leaves before all have entered"
-- nth = "place among the rank's calls of the kind in the group and step, or of the same number"
-- n_found = "ranks that have it"
-- n_expected = "ranks of its group: as recorded, else those of the job; NULL where there are several groups to choose"
-- is_complete = """whether all ranks of its group have it: then it is known who came last; NULL where it is not known
-- which ranks these are"""
WITH job AS (
    SELECT count(*) AS n_ranks, greatest(max(world_size), count(*)) AS world_size FROM raw.ranks
), divided AS (
    -- Groups of the same ranks make one order of calls, and what is all in a group of one waits for nobody.
    SELECT count(DISTINCT if(size >= world_size, 'all', ranks)) > 1 AS is_divided
    FROM (SELECT TRY_CAST(g->>'pg_size' AS BIGINT) AS size, coalesce(g->>'ranks', '') AS ranks
        FROM (SELECT unnest(json_extract(TRY_CAST(process_groups AS JSON), '$[*]')) AS g FROM raw.ranks)), job
    WHERE size > 1
), called AS (
    -- Groups of one name and different ranks are what a mesh of devices makes of one dimension.
    SELECT e.*, coalesce(group_name, '') || coalesce(' ' || group_ranks, '') AS team,
        group_name IS NOT NULL AND sequence IS NOT NULL AS is_numbered,
        -- All ranks enter before any leaves; in others a rank goes on when its own part is done.
        what IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier') AS is_together,
        group_name IS NULL AND is_divided AS is_of_any,
        if(is_of_any, NULL, coalesce(group_size, job.world_size)) AS n_expected, job.n_ranks, job.world_size
    FROM exchanges e CROSS JOIN job CROSS JOIN divided
), keyed AS (
    SELECT *, if(is_numbered, sequence, NULL) AS number, if(is_numbered, NULL, step) AS place FROM called
), ordered AS (
    SELECT *, row_number() OVER (same ORDER BY start_ns, id) AS nth, count(*) OVER same AS n_own
    FROM keyed WINDOW same AS (PARTITION BY rank, what, team, is_numbered, number, place)
), found AS (
    SELECT *, count(*) OVER one AS n_found, min(id) OVER one AS lowest_id,
        min(n_own) OVER every = max(n_own) OVER every AS is_even
    FROM ordered
    WINDOW one AS (PARTITION BY what, team, is_numbered, number, place, nth),
        every AS (PARTITION BY what, team, is_numbered, number, place)
), judged AS (
    SELECT *, CASE WHEN NOT is_together THEN 'not a collective in which all ranks wait for each other'
        WHEN is_of_any THEN 'several groups, and the call does not say which'
        WHEN n_found > n_expected OR group_name IS NULL AND n_found < n_expected AND n_expected < world_size
            THEN 'groups that cannot be told apart'
        WHEN is_numbered AND n_found < 2 THEN 'recorded on one rank only'
        WHEN NOT is_numbered AND (NOT is_even OR n_found < least(n_expected, n_ranks))
            THEN 'the ranks do not have as many'
        WHEN n_found < 2 THEN 'recorded on one rank only' END AS unmatched
    FROM found
)
SELECT id, rank, what, group_name, group_ranks, group_size, group_description, team, sequence, step, phase,
    size_bytes, start_ns, end_ns, dur_ns, own_ns, hidden_ns, exposed_ns, step_own_ns, step_exposed_ns, is_counted, per,
    step_ns, is_together, nth, n_found, n_expected, n_found = n_expected AS is_complete,
    if(is_numbered, 'group and sequence', 'kind and order') AS matched_by, unmatched,
    if(unmatched IS NULL, lowest_id, NULL) AS match_id
FROM judged
