-- title = "rpd: kernels"
-- doc = "Task is a kernel of a HIP graph. Extended launches of a module are given work items, all others work groups."
-- into = "kernels"
-- tables = ["rocpd_op"]
SELECT
    o.id, o.start_ns, o.end_ns - o.start_ns AS dur_ns, device, stream, o.name,
    CASE WHEN a.in_items THEN ceil(gridX / nullif(workgroupX, 0)) ELSE gridX END AS grid_x,
    CASE WHEN a.in_items THEN ceil(gridY / nullif(workgroupY, 0)) ELSE gridY END AS grid_y,
    CASE WHEN a.in_items THEN ceil(gridZ / nullif(workgroupZ, 0)) ELSE gridZ END AS grid_z,
    workgroupX AS block_x, workgroupY AS block_y, workgroupZ AS block_z, groupSegmentSize AS shared_bytes,
    o.api_id AS correlation
FROM op o LEFT JOIN kernel_call k ON k.api_ptr_id = o.api_id
    -- A damaged file may hold two calls of one number.
    LEFT JOIN (SELECT DISTINCT ON (id) id, regexp_matches(name, '^hip(Ext|Hcc)Module') AS in_items FROM api
        ORDER BY id, row_id) a ON a.id = o.api_id
WHERE o.type IN ('KernelExecution', 'Task') AND o.start_ns IS NOT NULL AND o.end_ns IS NOT NULL
