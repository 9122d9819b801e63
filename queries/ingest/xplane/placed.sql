-- title = "XPlane: events with their place"
-- doc = """One row per event: `goes` is the table it belongs to, `op` the operator as the framework named it
-- (TensorFlow `name:Type`, XLA `jit(f)/layer/op`). What TensorFlow runs outside of a graph has a type and no name."""
WITH numbered AS (
    -- A program that was not kept is known by its module's name alone.
    SELECT *, CASE WHEN program_id IN (SELECT program FROM compiled WHERE program IS NOT NULL)
        THEN program_id END AS program
    FROM batch
), around AS (
    -- A TPU's loop, branch or call lies over the instructions that run in it, on one line with them. What is last in a
    -- batch that is full has them in the next one.
    SELECT id FROM (
        SELECT *, lead(start_ns, 1, if(is_full, start_ns, NULL))
            OVER (PARTITION BY line_id ORDER BY start_ns, dur_ns DESC, id) AS next_ns
        FROM batch WHERE kind = 'tpu' AND line_name = 'XLA Ops'
    )
    WHERE next_ns < start_ns + dur_ns AND regexp_matches(event_name,
        '^%?(while|conditional|call)[.\d]*( |$)|^\S+ = .* (while|conditional|call)\(')
), told AS (
    SELECT
        b.id, b.start_ns, b.dur_ns, b.line_id, b.line_name, b.times, b.pid, b.device, b.plane, b.kind, b.is_named,
        CASE WHEN b.kind = 'tpu' THEN coalesce(b.display_name, regexp_extract(b.event_name, '^%?([^ ]+)', 1))
            WHEN b.kind = 'host'
                THEN regexp_replace(b.event_name, '^EagerLocalExecute: ([A-Z]\w*)$', '\1:\1')
            ELSE b.event_name END AS name,
        -- A TPU's event is the text of its instruction. S(5) is the host's memory: `copy-start` begins a copy from or
        -- to it, `copy-done` waits for its end, both with the target's shape before the source's.
        CASE WHEN b.kind <> 'tpu' THEN NULL
            WHEN regexp_matches(b.event_name, ' copy-start\(.*S\(5\)|S\(5\).* copy-start\(')
                THEN if(regexp_matches(b.event_name, '^\S+ = \(\w+\[[^\]]*\]\{[^}]*S\(5\)'), 'DtoH', 'HtoD')
            WHEN regexp_matches(b.event_name, ' copy-done\(.*S\(5\)')
                THEN if(regexp_matches(b.event_name, '^\S+ = \w+\[[^\]]*\]\{[^}]*S\(5\)'), 'DtoH', 'HtoD')
            WHEN regexp_matches(b.event_name, '^%?infeed[.\d]*( |$)') THEN 'HtoD'
            WHEN regexp_matches(b.event_name, '^%?outfeed[.\d]*( |$)') THEN 'DtoH'
        END AS host_copy,
        split_part(coalesce(b.annotation, b.tf_op), '#', 1) AS noted,
        b.correlation_id AS correlation, b.step_num, b.step_name, b.hlo_op, b.hlo_module, b.program,
        b.bytes_allocated, b.bytes_reserved, b.allocator_name, b.addr, b.allocation_bytes, b.requested_bytes,
        regexp_extract(b.context_id, '(\d+)', 1) AS context,
        b.kernel_details, b.memcpy_details, b.memset_details,
        h.kind AS hlo_kind, h.works_for, h.shapes, h.inputs, h.types, h.output_shapes, h.call_stack, h.cost AS hlo_cost,
        CASE
            WHEN contains(h.op_name, '/') THEN h.op_name
            WHEN contains(b.name, '/') THEN b.name
            WHEN contains(b.tf_op, '/') THEN rtrim(b.tf_op, ':')
        END AS xla_name,
        b.kind <> 'host' AND (b.line_name LIKE 'Stream #%'
            OR (b.kind = 'tpu' AND b.line_name = 'XLA Ops' AND b.id NOT IN (FROM around))) AS is_stream,
        b.kind = 'host'
            AND regexp_matches(b.event_name, '^([^: ]+:[A-Za-z_]\w*|EagerLocalExecute: [A-Z]\w*)$') AS is_tf_op
    FROM numbered b LEFT JOIN compiled h
        ON h.module = b.hlo_module AND h.instruction = b.hlo_op AND h.program IS NOT DISTINCT FROM b.program
), named AS (
    SELECT *,
        CASE WHEN is_tf_op THEN name WHEN regexp_matches(noted, '^[^:]+:[A-Za-z_]\w*$') THEN noted
            ELSE coalesce(xla_name, hlo_op) END AS op,
        CASE
            WHEN NOT is_named OR times > 0 THEN 'events'
            WHEN is_stream AND (memcpy_details IS NOT NULL OR memset_details IS NOT NULL
                OR regexp_matches(name, '^Mem(cpy|set)') OR host_copy IS NOT NULL) THEN 'memcpys'
            WHEN is_stream THEN 'kernels'
            WHEN kind <> 'host' THEN 'ranges'
            WHEN correlation IS NOT NULL THEN 'api_calls'
            WHEN bytes_allocated IS NOT NULL AND name LIKE 'Memory%' THEN 'counters'
            WHEN is_tf_op OR (hlo_op IS NOT NULL AND dur_ns >= 0) THEN 'ops'
            ELSE 'ranges'
        END AS goes
    FROM told
)
SELECT * FROM named
