-- title = "Who is late"
-- doc = """A rank is last where it starts later than all others by more than the error of the clocks. Of more than 16
-- ranks the minimum, median and maximum of each column and the eight for which the others wait longest."""
-- cannot = "No collective was matched on every rank of its group."
-- leave_out = ["transfer_ns", "exposed_wait_ns", "calls"]
-- top = 20
-- [columns]
-- rank = "process of the job, or which of all ranks"
-- calls = "matched collectives"
-- last = "of them those in which it was the last"
-- last_pct = "of its matched collectives"
-- lead_ns = "median time by which it was the last then"
-- caused_ns = "{per step|in the recording}, mean wait of the other ranks for it"
-- wait_ns = "{per step|in the recording}, what it waited for others"
-- exposed_wait_ns = "of it at most this much while nothing computed on it"
-- transfer_ns = "{per step|in the recording}, the rest of its collectives"
-- instead = "what it does longer than the median of its peers{, per step| in the recording}"
-- [headings]
-- last_pct = "of collectives"
-- lead_ns = "late by"
-- caused_ns = "others wait"
-- wait_ns = "waits"
-- exposed_wait_ns = "waits exposed"
WITH named AS (
    SELECT *, count(*) OVER () AS n, row_number() OVER (ORDER BY caused_ns DESC, rank) AS place,
        100.0 * last / calls AS last_pct FROM rank_totals
), listed AS (
    SELECT place, 'rank ' || CAST(rank AS VARCHAR) AS rank, calls, last, last_pct, lead_ns, caused_ns, wait_ns,
        exposed_wait_ns, transfer_ns, array_to_string(list_transform(excess[:2], lambda x:
            format('{} {:.3f} ms', x.part, x.excess_ns / 1e6)), ', ') AS instead
    FROM named WHERE n <= 16 OR place <= 8
    UNION ALL
    SELECT 10000000001, 'minimum', min(calls), min(last), min(last_pct), min(lead_ns), min(caused_ns),
        min(wait_ns), min(exposed_wait_ns), min(transfer_ns), NULL FROM named HAVING count(*) > 16
    UNION ALL
    SELECT 10000000002, 'median', CAST(median(calls) AS BIGINT), CAST(median(last) AS BIGINT), median(last_pct),
        CAST(median(lead_ns) AS BIGINT), median(caused_ns), median(wait_ns), median(exposed_wait_ns),
        median(transfer_ns), NULL
    FROM named HAVING count(*) > 16
    UNION ALL
    SELECT 10000000003, 'maximum', max(calls), max(last), max(last_pct), max(lead_ns), max(caused_ns),
        max(wait_ns), max(exposed_wait_ns), max(transfer_ns), NULL FROM named HAVING count(*) > 16
)
SELECT rank, calls, last, last_pct, lead_ns, caused_ns, wait_ns, exposed_wait_ns, transfer_ns, instead
FROM listed
ORDER BY place
