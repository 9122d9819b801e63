-- title = "XPlane: those operators as rows"
-- doc = "Ids follow the ones already given; the scope is worked out as for operators on host threads."
SELECT $first + row_number() OVER (ORDER BY start_ns, pid, tid) - 1 AS id, * FROM launched
