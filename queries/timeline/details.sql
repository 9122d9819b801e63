-- title = "Facts about the slices of a page that have no column of their own"
-- doc = """Kernels: launch configuration; copies: bytes and memories; operators: arguments, module, line, and what they
-- cost where it is known. Equal texts have one number."""
-- [columns]
-- number = "number of the slice"
-- iid = "number of the text, from 1"
WITH cost AS (
    SELECT op_id, sum(matrix_flop) AS flop, sum(bytes) AS n_bytes, sum(busy_ns) AS busy_ns,
        if(count(floor_ns) = count(*), sum(floor_ns), NULL) AS floor_ns
    FROM op_rooflines WHERE op_id IS NOT NULL GROUP BY op_id
), fact AS (
    SELECT s.number, concat_ws(chr(10),
        'grid ' || concat_ws(' x ', k.grid_x, k.grid_y, k.grid_z)
            || coalesce(', block ' || nullif(concat_ws(' x ', k.block_x, k.block_y, k.block_z), ''), ''),
        nullif(concat_ws(', ', k.registers || ' registers per thread',
            if(k.shared_bytes > 0, format('{:,} bytes of shared memory', k.shared_bytes), NULL)), '')) AS text
    FROM export_slice s JOIN raw.kernels k ON s.kind = 'kernel' AND k.id = s.id WHERE k.grid_x IS NOT NULL
    UNION ALL
    SELECT s.number, concat_ws(', ', format('{:,} bytes', m.size_bytes),
        if(m.dur_ns > 0, format('{:.1f} GB/s', m.size_bytes / m.dur_ns), NULL),
        nullif(concat_ws(' to ', m.src_kind, m.dst_kind), ''))
    FROM export_slice s JOIN raw.memcpys m ON s.kind = 'copy' AND m.id = s.id WHERE m.size_bytes IS NOT NULL
    UNION ALL
    SELECT s.number, concat_ws(chr(10),
        CASE WHEN CAST(o.shapes AS VARCHAR) SIMILAR TO '.*\d.*'
            THEN concat_ws(chr(10), 'shapes ' || CAST(o.shapes AS VARCHAR), 'types ' || CAST(o.types AS VARCHAR)) END,
        'module ' || CAST(o.module_hierarchy AS VARCHAR),
        format('line {}({})', l.file, l.line) || coalesce(': ' || l.function, ''),
        'generated code ' || o.code_file || coalesce(' (' || o.code_config || ')', ''),
        'cost ' || nullif(concat_ws(', ', if(c.flop > 0, format('{:.3g} GFLOP', c.flop / 1e9), NULL),
            if(c.n_bytes > 0, format('{:.3g} MB', c.n_bytes / 1e6), NULL),
            if(c.floor_ns > 0 AND c.busy_ns >= c.floor_ns,
                format('{:.0f} % of what the roofline allows', 100.0 * c.floor_ns / c.busy_ns), NULL)), ''))
    FROM export_slice s JOIN raw.ops o ON s.kind = 'op' AND o.id = s.id
    LEFT JOIN cost c ON c.op_id = o.id LEFT JOIN source_lines l ON l.op_id = o.id
    WHERE o.shapes IS NOT NULL OR o.module_hierarchy IS NOT NULL OR c.op_id IS NOT NULL OR l.file IS NOT NULL
        OR o.code_file IS NOT NULL
)
SELECT number, left(text, 400) AS text, CAST(dense_rank() OVER (ORDER BY left(text, 400)) AS INTEGER) AS iid
FROM fact WHERE text <> ''
