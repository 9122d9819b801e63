-- doc = """Ranks of whose file a part was not read, as where it is cut off, with the gravest of these faults in words.
-- Events of a file are not in order of time: what is missing may be anything."""
-- in_memory = true
-- [columns]
-- is_certain = "false where what was read may be the whole recording"
-- text = "what is missing, as a sentence without its full stop"
WITH fault AS (
    SELECT c.rank, CASE WHEN contains(p.kind, 'may be cut off') THEN 3
        WHEN contains(p.kind, 'something else') THEN 4 WHEN contains(p.kind, 'write-ahead') THEN 5
        WHEN contains(p.kind, 'damaged') OR contains(p.kind, 'only in part') THEN 2 ELSE 1 END AS place
    FROM raw.captures c, unnest(c.problems) AS t(p)
    WHERE regexp_matches(p.kind, 'cut off|data is damaged|only in part|something else|write-ahead')
)
SELECT rank, min(place) <= 2 AS is_certain, CASE min(place)
    WHEN 1 THEN 'The file is cut off: work that came after looks idle, and shares are of what is left'
    WHEN 2 THEN 'The file is cut off or damaged: work of the missing part looks idle, and shares are of what is left'
    WHEN 3 THEN 'The file may be cut off, since its last line does not end: then missing work looks idle'
    WHEN 4 THEN
        'Something else follows what was read of the file, as where files were joined: it is in none of the numbers'
    ELSE 'The write-ahead log beside the database was not read: what only it holds is in none of the numbers'
    END AS text
FROM fault GROUP BY rank
