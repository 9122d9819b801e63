-- title = "Compiling"
-- doc = "Time that the log says went into compiling code, once per run; of a timeline what lies before its first step."
-- brief = ""
-- optional = true
-- lines = ["{text}"]
-- [columns]
-- rank = "process of the job"
-- text = "how long, what of, and how many steps take as long"
WITH told AS (
    SELECT rank, sum(total_ns) FILTER (is_whole) AS total_ns,
        string_agg(format('{} {:.2f} s', lower(name[1]) || name[2:], total_ns / 1e9), ', ' ORDER BY total_ns DESC, name)
            FILTER (NOT is_whole) AS parts
    FROM compile_times GROUP BY rank
), mean AS (
    SELECT rank, sum(n * all_ns) / nullif(sum(n), 0) AS step_ns FROM network_times
    WHERE NOT coalesce(starts_with(network, 'Sum of all'), false) GROUP BY rank
), before AS (
    -- Calls inside one another count once; ONNX Runtime optimizes a graph and makes its kernels in these two.
    SELECT rank, id, start_ns, end_ns FROM compilations
    UNION ALL
    SELECT rank, id, start_ns, end_ns FROM ranges WHERE name IN ('session_initialization', 'model_loading_array',
        'model_loading_uri')
), begun AS (
    SELECT rank, min(start_ns) AS first_ns, median(dur_ns) AS step_ns FROM step_times GROUP BY rank
), own AS (
    SELECT b.rank, g.step_ns, b.end_ns - greatest(b.start_ns, coalesce(max(b.end_ns) OVER (PARTITION BY b.rank
        ORDER BY b.start_ns, b.end_ns DESC, b.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), b.start_ns))
        AS own_ns
    FROM before b JOIN begun g ON g.rank = b.rank AND b.end_ns <= g.first_ns
), found AS (
    SELECT t.rank, t.total_ns, m.step_ns, t.parts FROM told t LEFT JOIN mean m USING (rank)
    UNION ALL
    SELECT rank, sum(greatest(own_ns, 0)), any_value(step_ns), NULL FROM own GROUP BY rank
)
SELECT rank, format('{} {:.2f} s', if(parts IS NULL, 'Compiling and loading', 'Compiling'), total_ns / 1e9)
    || coalesce(' (' || parts || ')', '')
    || coalesce(format(', as long as {:.0f} steps', total_ns / nullif(step_ns, 0)), '') AS text
FROM found WHERE total_ns >= 0.01e9 AND total_ns > coalesce(step_ns, 0)
ORDER BY rank
