-- title = "Kernels for data that are not aligned"
-- doc = """Kernels on tensor cores whose names say that they load fewer than 16 bytes at a time (align1 to align4 of
-- half precision, align1 and align2 of TF32), and attention for heads or masks that are not aligned. The bound is their
-- time beyond the least that the peaks of the device allow for their operators, less what overlaps work that started
-- earlier on the device; where sizes or peaks are not known, all of it."""
-- why = """Tensor cores are fed 16 bytes at a time; a size, an offset or a stride that is not a multiple of that makes
-- the library take a kernel that loads in smaller pieces."""
-- cost = "A few more weights than the model needs, or a copy where an offset is odd."
-- unless = "The size is fixed (classes, vocabulary): then pad only the tensor."
-- needs = ["kernels", "kernel_names"]
-- sees = "graphs"
-- same_time_as = "channels_not_multiple_of_8"
-- removes = "unaligned_kernels"
-- [fix]
-- pytorch = """sizes of nn.Linear, head sizes and lengths of masks as multiples of 8 (pad the vocabulary and the
-- sequences); no slices that begin at odd columns, or .contiguous() after them"""
-- any = "sizes and offsets as multiples of 16 bytes"
-- [params]
-- unaligned_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH own AS (
    SELECT rank, id, name, op_id, mean_ns / per AS own_ns, 1 / per AS calls, step_ns, place FROM unaligned_kernels
), call AS (
    SELECT m.op_id AS part_id, f.op_id, f.floor_ns, f.own_ns FROM op_floors f JOIN op_calls m ON m.call_id = f.op_id
    WHERE f.floor_ns IS NOT NULL
), lost AS (
    SELECT o.*, o.own_ns * (1 - coalesce(c.floor_ns / nullif(c.own_ns, 0), 0)) AS lost_ns,
        CASE WHEN p.op_id IS NULL THEN '' WHEN p.batch > 1 THEN format(', {} x {} x {} by {} x {}', p.batch, p.m, p.k,
            p.k, p.n) ELSE format(', {} x {} by {} x {}', p.m, p.k, p.k, p.n) END AS sizes
    FROM own o LEFT JOIN call c ON c.part_id = o.op_id LEFT JOIN matmul_shapes p ON p.op_id = c.op_id
), kinds AS (
    SELECT rank, coalesce(nullif(regexp_extract(name, '\w*(tensorop|notaligned)\w*'), ''), name) AS name,
        alike(place) AS place, sizes, sum(calls) AS calls, sum(own_ns) AS own_ns, sum(lost_ns) AS lost_ns,
        any_value(step_ns) AS step_ns
    FROM lost GROUP BY ALL
)
SELECT rank,
    format('Kernels that load less than 16 bytes at a time take {:.3f} ms.', sum(own_ns) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(place, lost_ns), '(no operator)') AS place, sum(lost_ns) AS saving_ns,
    'medium: the names say how they load; whether it is a size, an offset or a stride is not recorded' AS confidence,
    list(format('{} under {}{}: {:.1f} calls, {:.3f} ms', name, place, sizes, calls, own_ns / 1e6)
        ORDER BY lost_ns DESC, name, place, sizes)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $unaligned_step_pct * any_value(step_ns)
ORDER BY rank
