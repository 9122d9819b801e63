-- doc = """Process groups of a job that communicate, all ranks where none is recorded: what their ranks exchange, how
-- alike their work is, and how the work is divided: by the group's name where that tells, else by these. The same work
-- on all ranks and gradients added up: data parallel. Different kernels and messages from one to the next: model or
-- pipeline parallel. How alike: the counts per step of each kernel or operator name that two ranks share, of those that
-- either has; each rank is compared with the lowest rank of its group, and the lowest value counts."""
-- whole_job = true
-- [columns]
-- team = "the group, as in matched_calls"
-- group_description = "what the program calls the group, where recorded"
-- ranks = "ranks in the capture that use it"
-- n_expected = "ranks of the group; NULL where calls do not say which of several they are of"
-- kinds = "what they exchange"
-- per_step = "calls of a rank per step (in the recording where there are no steps)"
-- size_bytes = "bytes per rank and step, where recorded"
-- same_pct = "of the kernels or operators of a pair of ranks, in common"
-- forward_pct = "of the calls, launched in the forward pass; where phases are known"
-- dimension = """how the work is divided over the ranks of the group: data, sharded data, tensor, pipeline, expert,
-- context, or several where the group's name has several; NULL where nothing tells"""
-- known_by = "the name of the group, or what it exchanges"
-- verdict = "the same in words"
WITH call AS (
    FROM matched_calls WHERE is_counted
), team AS (
    SELECT team, group_name, any_value(group_description) AS group_description, max(n_expected) AS n_expected,
        count(DISTINCT rank) AS ranks, min(rank) AS lowest,
        string_agg(DISTINCT what, ', ' ORDER BY what) AS kinds, list(DISTINCT what) AS whats,
        sum(1.0 / per) / count(DISTINCT rank) AS per_step,
        sum(size_bytes / per) / count(DISTINCT rank) AS size_bytes,
        100.0 * count(*) FILTER (phase = 'forward') / nullif(count(phase), 0) AS forward_pct,
        -- By bytes where they are recorded: a criterion may add up one number over ranks.
        coalesce(100.0 * coalesce(sum(size_bytes) FILTER (what = 'all_reduce' AND phase = 'forward'), 0)
                / nullif(sum(size_bytes) FILTER (what = 'all_reduce' AND phase IS NOT NULL), 0),
            100.0 * count(*) FILTER (what = 'all_reduce' AND phase = 'forward')
                / nullif(count(phase) FILTER (what = 'all_reduce'), 0)) AS reduced_forward_pct
    FROM call GROUP BY team, group_name
), work AS (
    SELECT rank, name, sum(n / per) AS n FROM totals
    WHERE is_counted AND category <> 'communication' AND kind <> 'copy' GROUP BY rank, name
), pair AS (
    SELECT DISTINCT c.team, c.rank, t.lowest FROM call c JOIN team t ON t.team = c.team WHERE c.rank <> t.lowest
), beside AS (
    SELECT p.team, p.rank, coalesce(a.n, 0) AS n, 0 AS m, a.name FROM pair p JOIN work a ON a.rank = p.rank
    UNION ALL
    SELECT p.team, p.rank, 0, coalesce(b.n, 0), b.name FROM pair p JOIN work b ON b.rank = p.lowest
), compared AS (
    SELECT team, rank, 100.0 * sum(least(n, m)) / nullif(sum(greatest(n, m)), 0) AS same_pct
    FROM (SELECT team, rank, name, sum(n) AS n, sum(m) AS m FROM beside GROUP BY team, rank, name)
    GROUP BY team, rank
), least_same AS (
    SELECT team, min(same_pct) AS same_pct FROM compared GROUP BY team
), judged AS (
    SELECT t.*, s.same_pct, CASE WHEN t.n_expected IS NULL
                THEN 'not enough data: of several groups the calls do not say which'
            WHEN list_has_any(t.whats, ['send', 'recv', 'send_recv']) AND s.same_pct < 70
                THEN 'model or pipeline parallel: different work, messages between ranks'
            WHEN list_has_any(t.whats, ['send', 'recv', 'send_recv'])
                THEN 'messages between ranks that do the same work: pipeline of equal stages, or an exchange of borders'
            WHEN list_contains(t.whats, 'all_to_all')
                THEN 'all-to-all: layers divided over ranks (experts, embedding tables)'
                    || if(list_contains(t.whats, 'all_reduce'), ', the rest data parallel', '')
            WHEN list_contains(t.whats, 'all_gather') AND list_contains(t.whats, 'reduce_scatter')
                AND coalesce(s.same_pct >= 70, false)
                THEN 'sharded data parallel (or sequence parallel): all-gather and reduce-scatter'
            WHEN t.reduced_forward_pct >= 20 AND coalesce(s.same_pct >= 70, false)
                THEN 'tensor parallel: all-reduce in the forward pass'
            WHEN list_has_any(t.whats, ['all_reduce', 'reduce_scatter']) AND coalesce(s.same_pct >= 70, false)
                THEN 'data parallel: the same work, gradients added up'
            WHEN list_has_any(t.whats, ['all_reduce', 'reduce_scatter']) AND s.same_pct < 70
                THEN 'not enough data: gradients are added up over ranks that do different work'
            ELSE 'not enough data' END AS verdict,
        -- Words of Megatron, DeepSpeed, PyTorch's device meshes and FSDP.
        list_filter([
            if(regexp_matches(named, '(^|[^a-z])(tp|tensor)([^a-z]|$)'), 'tensor', NULL),
            if(regexp_matches(named, '(^|[^a-z])(pp|pipe|pipeline)([^a-z]|$)'), 'pipeline', NULL),
            if(regexp_matches(named, '(^|[^a-z])(ep|expert|moe)([^a-z]|$)'), 'expert', NULL),
            if(regexp_matches(named, '(^|[^a-z])(cp|sp|context|sequence|ulysses)([^a-z]|$)'), 'context', NULL),
            CASE WHEN regexp_matches(named, '(^|[^a-z])(fsdp|shard|zero)([^a-z]|$)') THEN 'sharded data'
                WHEN regexp_matches(named, '(^|[^a-z])(dp|ddp|data|replicate)([^a-z]|$)') THEN
                    if(list_contains(whats, 'all_gather') AND list_contains(whats, 'reduce_scatter'), 'sharded data',
                        'data') END
        ], lambda x: x IS NOT NULL) AS told
    FROM (SELECT *, lower(concat_ws(' ', group_name, group_description)) AS named FROM team) t
    LEFT JOIN least_same s ON s.team = t.team
)
SELECT team, group_name, group_description, ranks, n_expected, kinds, per_step, size_bytes, same_pct, forward_pct,
    CASE WHEN len(told) > 0 THEN array_to_string(told, ' and ') WHEN verdict LIKE 'data parallel%' THEN 'data'
        WHEN verdict LIKE 'sharded%' THEN 'sharded data' WHEN verdict LIKE 'tensor%' THEN 'tensor'
        WHEN verdict LIKE 'model or pipeline%' THEN 'pipeline' END AS dimension,
    CASE WHEN len(told) > 0 THEN 'name of the group' WHEN dimension IS NOT NULL THEN 'what it exchanges' END
        AS known_by,
    if(len(told) > 0, array_to_string(told, ' and ') || ' parallel: by the name of the group', verdict) AS verdict
FROM judged
