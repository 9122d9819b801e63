-- doc = """Work of a device in the steps that is of no known operator, as that of a CUDA graph, where it takes more
-- than a twentieth of the busy time. A rule that goes by sizes and types of operators does not see it, and where it
-- finds nothing in the rest it cannot say that there is no problem. Copies and collectives have none that it would
-- read. Products count as well where their operator has no cost, as that of an extension: its sizes are not known. A
-- graph that was recorded as a whole may hold any work: rules that go by kernels see nothing of it, either."""
-- in_memory = true
-- [columns]
-- rank = "process of the job"
-- part = "products, elementwise (all that chains of elementwise operators consist of), graphs or all"
-- reason = "what a rule says that found nothing in the rest"
WITH spent AS (
    SELECT rank, if(name = '[CUDA graph]', 'graph', category) AS category, alone_ns / per AS own_ns, false AS has_op
    FROM totals
    WHERE is_counted AND (NOT has_op OR name = '[CUDA graph]') AND kind <> 'copy' AND category <> 'communication'
    UNION ALL
    SELECT rank, category, alone_ns / per, true FROM counted
    WHERE category = 'gemm' AND op_id IS NOT NULL AND op_id NOT IN (SELECT op_id FROM op_calls)
)
SELECT t.rank, p.part, format('{}{} take {:.1f} % of the device''s busy time',
        any_value(p.words), if(bool_or(t.has_op), ', or not its sizes,', ''),
        100.0 * sum(t.own_ns) / any_value(c.n_devices) / any_value(b.busy_ns)) AS reason
FROM spent t JOIN scope c ON c.rank = t.rank JOIN device_busy b ON b.rank = t.rank
JOIN (VALUES ('all', 'kernels whose operator is not known', NULL),
    ('graphs', 'CUDA graphs recorded as a whole', ['graph']),
    ('products', 'products, convolutions and kernels of unknown kind whose operator is not known',
        ['gemm', 'conv', 'other', 'graph']),
    ('elementwise', 'elementwise kernels, norms and reductions whose operator is not known',
        ['elementwise', 'reduction', 'activation', 'bias', 'layer_norm', 'batch_norm', 'softmax_loss', 'dropout_rng',
        'cast', 'concat_split', 'graph'])
) p(part, words, categories) ON coalesce(list_contains(p.categories, t.category), true)
WHERE NOT t.has_op OR p.part = 'products'
GROUP BY t.rank, p.part
HAVING sum(t.own_ns) / any_value(c.n_devices) > 0.05 * any_value(b.busy_ns)
