-- title = "Stages of convolutions that no operator is known for"
-- doc = """In launch order on one stream: from the transforms that open a stage (Winograd, FFT, im2col) through its
-- product to the transform that closes it. Without an operator, neighbours tell what a plain matrix product belongs
-- to."""
WITH marked AS (
    SELECT k.id, k.rank, k.device, coalesce(h.stream, k.stream) AS stream, k.start_ns, k.name, s.mark,
        last_value(if(s.mark IN ('open', 'unroll'), s.mark, NULL) IGNORE NULLS) OVER before AS opener,
        last_value(nullif(s.mark, 'inner') IGNORE NULLS) OVER before AS latest
    FROM raw.kernels k JOIN attributed.stage_name s ON s.name = k.name LEFT JOIN attributed.home h ON h.id = k.id
    WHERE k.op_id IS NULL
    WINDOW before AS (PARTITION BY k.rank, k.device, coalesce(h.stream, k.stream) ORDER BY k.start_ns, k.id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), numbered AS (
    SELECT *, sum(CASE
        WHEN latest IS NULL OR mark = 'none' OR latest IN ('none', 'close') THEN 1
        WHEN mark IN ('open', 'unroll') AND latest NOT IN ('open', 'unroll') THEN 1
        -- im2col feeds one product; what follows is another layer's.
        WHEN mark = 'product' AND latest = 'product' AND opener = 'unroll' THEN 1
        ELSE 0 END) OVER (PARTITION BY rank, device, stream ORDER BY start_ns, id) AS stage
    FROM marked
)
SELECT list(id ORDER BY start_ns, id) AS ids, list(name ORDER BY start_ns, id) AS names
FROM numbered
-- A stage with one of no mark is that one alone.
WHERE mark <> 'none'
GROUP BY rank, device, stream, stage
HAVING bool_or(mark IN ('open', 'unroll')) AND bool_or(mark = 'product')
