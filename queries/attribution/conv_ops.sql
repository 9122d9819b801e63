-- title = "Outermost convolution operators"
-- doc = """Convolution operators nest (conv2d > convolution > _convolution > cudnn_convolution); the outermost one is
-- the call. One that begins in the last tick of another, and lasts longer behind it, is not inside. PyTorch's gradients
-- have a mask of those asked for (input, filter, bias): one alone is judged like cudnn_convolution_backward_weight."""
SELECT id, rank, name, direction, start_ns, layer, step, forward_id,
    name || CASE WHEN contains(name, 'double') THEN '' WHEN contains(inputs, '"[True, False') THEN '_input'
        WHEN contains(inputs, '"[False, True') THEN '_weight' ELSE '' END AS judged_as
FROM (
    SELECT o.*, n.direction, max(o.start_ns + o.dur_ns) OVER (
        PARTITION BY o.rank, o.pid, o.tid ORDER BY o.start_ns, o.dur_ns DESC, o.id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_until_ns
    FROM raw.ops o JOIN names.op n
        ON n.path IS NOT DISTINCT FROM o.path AND n.phase IS NOT DISTINCT FROM o.phase
        AND n.hlo_kind IS NOT DISTINCT FROM o.hlo_kind
    -- Its own name is the first of its path, of which there are few.
    WHERE n.category = 'conv'
        AND NOT regexp_matches(regexp_extract(n.path, '^(.*?)(?: < |$)', 1), 'Backward\d*$|^autograd::')
)
WHERE covered_until_ns IS NULL OR start_ns >= covered_until_ns OR start_ns + (dur_ns + 1) // 2 > covered_until_ns
