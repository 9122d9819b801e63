-- title = "Kineto: event texts to columns"
-- doc = "One row per event. Numbers stay text until a table needs them: a double would lose digits of a time. An event takes four ids: it may fill rows of several tables."
SELECT
    "row",
    4 * ($first + "row") AS id,
    e.ph AS ph,
    lower(e.cat) AS cat,
    e.name AS name,
    coalesce(TRY_CAST(e.pid AS BIGINT), TRY_CAST(regexp_extract(e.pid, '\d+') AS BIGINT), hash(e.pid) >> 33) AS pid,
    coalesce(TRY_CAST(e.tid AS BIGINT), TRY_CAST(regexp_extract(e.tid, '\d+') AS BIGINT), hash(e.tid) >> 33) AS tid,
    CASE
        WHEN TRY_CAST(e.ts AS BIGINT) BETWEEN -9000000000000000 AND 9000000000000000 AND NOT contains(e.ts, '.')
            THEN TRY_CAST(e.ts AS BIGINT) * 1000
        ELSE TRY_CAST(round(TRY_CAST(e.ts AS DECIMAL(38, 6)) * 1000) AS BIGINT)
    END AS start_ns,
    CASE
        WHEN TRY_CAST(e.dur AS BIGINT) BETWEEN 0 AND 9000000000000 AND NOT contains(e.dur, '.')
            THEN TRY_CAST(e.dur AS BIGINT) * 1000
        ELSE TRY_CAST(round(TRY_CAST(e.dur AS DECIMAL(38, 6)) * 1000) AS BIGINT)
    END AS dur_ns,
    e.id AS flow,
    e.args AS args
FROM (
    SELECT
        "row",
        TRY(from_json(line, '{
            "ph": "VARCHAR", "cat": "VARCHAR", "name": "VARCHAR", "pid": "VARCHAR", "tid": "VARCHAR",
            "ts": "VARCHAR", "dur": "VARCHAR", "id": "VARCHAR",
            "args": {
                "External id": "VARCHAR", "Sequence number": "VARCHAR",
                "Fwd thread id": "VARCHAR", "Input Dims": "JSON", "Input Strides": "JSON",
                "Input type": "JSON", "Concrete Inputs": "JSON", "Call stack": "VARCHAR", "Module Hierarchy": "VARCHAR",
                "correlation": "VARCHAR", "device": "VARCHAR", "context": "VARCHAR", "stream": "VARCHAR",
                "grid": "BIGINT[]", "block": "BIGINT[]", "registers per thread": "VARCHAR", "shared memory": "VARCHAR",
                "est. achieved occupancy %": "VARCHAR", "graph id": "VARCHAR", "graph node id": "VARCHAR",
                "bytes": "VARCHAR", "fromDevice": "VARCHAR", "toDevice": "VARCHAR",
                "Total Allocated": "VARCHAR", "Total Reserved": "VARCHAR",
                "Device Type": "VARCHAR", "Device Id": "VARCHAR",
                "Collective name": "VARCHAR", "In msg nelems": "VARCHAR", "Out msg nelems": "VARCHAR",
                "dtype": "VARCHAR", "Group size": "VARCHAR", "Process Group Name": "VARCHAR", "Seq": "VARCHAR"
            }}')) AS e
    FROM lines
)
