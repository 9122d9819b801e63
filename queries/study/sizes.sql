-- title = "Timed, by the size of the filter: FFT against the others"
-- doc = """Problems for which FFT, whole or in tiles, and another algorithm were timed, from small filters to large
-- ones. What grows with the filter's area keeps its effective rate; that of FFT rises."""
-- cannot = "No problem in this capture was timed with FFT and with another algorithm."
-- leave_out = ["setting", "batch"]
-- [params]
-- way = { type = "VARCHAR", default = "fprop", doc = "direction: fprop, dgrad or wgrad" }
-- [columns]
-- filter = "its height and width"
-- label = "network and layer"
-- batch = "images"
-- algorithm = "see docs/vocabulary.md"
-- time_ns = "of its fastest implementation, measured or published"
-- over_fft = "time over that of FFT: above 1 FFT is faster"
-- effective_flop_per_s = "FLOPs of the direct method over time"
-- setting = "device, threads and type"
WITH against AS (
    SELECT *, min(time_ns) FILTER (contender IN ('fft', 'fft_tiling'))
            OVER (PARTITION BY setting, problem, batch) AS fft_ns,
        CAST(split_part(problem, ' ', 3) AS BIGINT) AS height, CAST(split_part(problem, ' ', 4) AS BIGINT) AS width
    FROM algorithm_best WHERE direction = $way AND algorithms >= 2
)
SELECT height || 'x' || width AS filter, label, batch, contender AS algorithm, time_ns, time_ns / fft_ns AS over_fft,
    1e9 * flop / time_ns AS effective_flop_per_s, setting
FROM against WHERE fft_ns IS NOT NULL
ORDER BY setting, height * width, height, label, problem, batch, time_ns, contender
