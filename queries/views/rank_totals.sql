-- doc = """Each rank's part in the matched collectives of the steps that count: what it waited for others, how often it
-- was the last, and what the others waited then."""
-- [columns]
-- calls = "matched collectives of the rank that no rank of the group misses"
-- last = "of them those in which it was the last, by more than the error of the clocks"
-- lead_ns = "median time by which it then was the last"
-- caused_ns = "per step, mean wait of the other ranks of a collective for it"
-- wait_ns = "per step, what it waited itself"
-- exposed_wait_ns = "of it while nothing computed on it"
-- transfer_ns = "per step, the rest of its calls"
-- excess = "what it does longer than its peers, the largest first: part and time per step each; see rank_parts"
WITH instead AS (
    SELECT rank, list({'part': part, 'excess_ns': excess_ns} ORDER BY excess_ns DESC, part) AS excess
    FROM rank_parts WHERE excess_ns > 0 GROUP BY rank
)
SELECT w.rank, count(*) AS calls, count(*) FILTER (w.is_last) AS last,
    CAST(median(w.lead_ns) FILTER (w.is_last) AS BIGINT) AS lead_ns,
    coalesce(sum(w.others_ns / (w.n_found - 1) / w.per) FILTER (w.is_last), 0) AS caused_ns,
    sum(w.step_wait_ns / w.per) AS wait_ns,
    -- Hidden or not is known of a call as a whole: the wait is no more than what nothing hides of it.
    sum(least(w.step_wait_ns, w.step_exposed_ns) / w.per) AS exposed_wait_ns,
    sum(w.step_transfer_ns / w.per) AS transfer_ns, max(w.per) AS per, any_value(w.step_ns) AS step_ns,
    any_value(i.excess) AS excess
FROM complete_waits w LEFT JOIN instead i ON i.rank = w.rank
GROUP BY w.rank
