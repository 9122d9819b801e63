-- doc = """Steps of each rank that hold work of its devices, where one was recorded. Leading ones of more than 1.5
-- times the median are warm-up: they tune, compile or allocate. Guessed steps never are: one that differs from the
-- others makes the guess doubtful. Iterations that an inference engine marks differ by what they compute: a first one
-- that takes longer may be a prefill."""
-- materialize = true
-- [columns]
-- found_by = "how the step was worked out; NULL where the profiler or the program marked it"
-- source = "how it was found, or what marked it"
-- is_guessed = "whether neither the program, its profiler nor its optimizer says that these are steps"
-- noun = "step, or iteration where nothing is trained"
SELECT rank, step, start_ns, end_ns, dur_ns, found_by,
    coalesce(found_by, nullif(regexp_replace(name, '[ _:#=]*\d+$', ''), '') || ' annotations', 'the profiler')
        AS source,
    coalesce(starts_with(found_by, 'guessed '), false) AS is_guessed,
    if(regexp_matches(found_by, '^(guessed )?iterations, '), 'iteration', 'step') AS noun,
    noun = 'step' AND NOT is_guessed AND coalesce(bool_and(dur_ns > 1.5 * median_ns) OVER (
        PARTITION BY rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), false) AS is_warmup
FROM (
    SELECT * EXCLUDE (is_empty), median(dur_ns) OVER (PARTITION BY rank) AS median_ns
    FROM marked_steps WHERE NOT is_empty
)
