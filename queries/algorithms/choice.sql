-- title = "How the algorithm was chosen"
-- doc = """By a search (several algorithms are tried at the start, and the fastest stays), by the library's rule of
-- thumb (heuristic), or as a setting names it (fixed). A search that the trace shows counts more than a setting.
-- Iterations without a search prove nothing: it may have run before the recording."""
-- cannot = "No convolution ran on a device in this trace."
-- leave_out = ["everywhere", "losers", "search_ns", "shapes", "algorithms"]
-- [columns]
-- rank = "process of the job"
-- chosen = "search, heuristic, fixed or cannot tell"
-- because = "what says so"
-- losers = "kernels that ran in the first iteration, or before it, alone; the report autotune names them"
-- search_ns = "their time"
-- algorithms = "algorithms of the steps that count, by time"
-- shapes = "different filters and strides"
-- everywhere = "the one algorithm of all convolutions, where there are three shapes or more"
WITH trial AS (
    SELECT rank, count(DISTINCT name) AS losers, CAST(sum(dur_ns) AS BIGINT) AS search_ns, max(iteration) AS iteration
    FROM conv_trials WHERE last_iteration <= 1 AND n_iterations >= 3 GROUP BY rank HAVING bool_or(role = 'main')
), several AS (
    SELECT DISTINCT rank FROM conv_calls WHERE len(algorithms) > 1
), part AS (
    SELECT rank, algorithm, sum(total_ns) AS total_ns FROM counted_conv_calls
    WHERE algorithm IS NOT NULL GROUP BY rank, algorithm
), ran AS (
    SELECT rank, list(algorithm ORDER BY total_ns DESC, algorithm) AS algorithms FROM part GROUP BY rank
), call AS (
    SELECT rank, count(DISTINCT (filter_shape, stride)) FILTER (filter_shape IS NOT NULL) AS shapes
    FROM counted_conv_calls WHERE rank IN (SELECT rank FROM raw.kernels) GROUP BY rank
)
SELECT c.rank,
    CASE WHEN t.rank IS NOT NULL OR s.rank IS NOT NULL THEN 'search' ELSE coalesce(g.way, 'cannot tell') END AS chosen,
    CASE WHEN t.rank IS NOT NULL THEN if(t.iteration = 0, 'kernels from before the first step never run again',
            'kernels of the first iteration never run again')
        WHEN s.rank IS NOT NULL THEN 'a call ran several algorithms'
        WHEN g.way = 'search' THEN g.setting || '; the search itself is not in the recording'
        WHEN g.way IS NOT NULL THEN g.setting
        ELSE 'no setting is recorded (traceview collect notes them), and no search is in the recording' END AS because,
    coalesce(t.losers, 0) AS losers, t.search_ns, array_to_string(r.algorithms, ', ') AS algorithms, c.shapes,
    if(len(r.algorithms) = 1 AND c.shapes >= 3, r.algorithms[1], NULL) AS everywhere
FROM call c LEFT JOIN trial t USING (rank) LEFT JOIN several s USING (rank) LEFT JOIN ran r USING (rank)
LEFT JOIN search_settings g USING (rank)
ORDER BY c.rank
