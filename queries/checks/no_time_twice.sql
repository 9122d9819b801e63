-- doc = "Activities that are counted with more time than they take, or with more inside the steps than in all."
-- [columns]
-- alone_ns = "the part of its time that no earlier activity covers"
SELECT rank, device, kind, id, dur_ns, alone_ns, step_alone_ns, between_ns
FROM busy
WHERE NOT coalesce(alone_ns BETWEEN 0 AND dur_ns AND rank_alone_ns BETWEEN 0 AND alone_ns
    AND step_dur_ns BETWEEN 0 AND dur_ns AND step_alone_ns >= 0 AND between_ns >= 0
    AND step_alone_ns + between_ns <= alone_ns, false)
ORDER BY rank, device, kind, id
