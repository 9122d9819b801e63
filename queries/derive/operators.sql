-- title = "Derived columns of operators"
-- doc = "From what was worked out of their nesting (`op_facts`): whether they are backward, their layer and phase."
-- [params]
-- first = { type = "BIGINT", doc = "the first id in `op_facts`" }
-- last = { type = "BIGINT", doc = "the last id in `op_facts`" }
SELECT f.id, f.path, f.parent_id, f.depth, f.self_ns, f.forward_id, f.step, f.frame_id,
    f.is_of_forward = 1 OR o.forward_thread IS NOT NULL OR f.is_gradient = 1
        OR coalesce(regexp_matches(o.hlo_kind, ' [dw]grad$'), false)
        -- A pass that was told operator by operator, not one that lasted from here to there.
        OR coalesce(p.name = 'backward' AND p.domain = 'graph', false) AS is_backward,
    coalesce(regexp_replace(m.name, ' \(\w+\)$', ''),
        -- PyTorch's modules end with their own name behind a dot; in a path of slashes a dot is part of a name.
        nullif(if(contains(o.module_hierarchy, '/'), o.module_hierarchy,
            regexp_extract(o.module_hierarchy, '([^.]*)$', 1)), '')) AS layer,
    -- `optimizer.step(closure)` holds forward and backward passes; they are not the optimizer's.
    coalesce(CASE WHEN p.name = 'optimizer' AND (f.is_of_forward = 1 OR f.is_gradient = 1) THEN 'backward'
            WHEN p.name = 'optimizer' AND m.name IS NOT NULL THEN 'forward' ELSE p.name END,
        CASE WHEN f.is_of_forward = 1 THEN 'backward'
        -- A scope that the program, or Keras' collector, calls so; or, in graphs of Keras, after the optimizer's class.
        WHEN regexp_matches(o.module_hierarchy, '(^|/)optimizer(/|$)|^(?i:sgd|adam[wx]?|adamax|nadam|rmsprop|adagrad'
            || '|adadelta|adafactor|ftrl|lion|lamb|muon)(_\d+)?(/|$)') THEN 'optimizer' END) AS phase
FROM op_facts f
-- Few operators have any of these: a small table to look into.
LEFT JOIN (SELECT id, forward_thread, hlo_kind, module_hierarchy FROM stage.ops
    WHERE (forward_thread IS NOT NULL OR hlo_kind IS NOT NULL OR module_hierarchy IS NOT NULL)
        AND id BETWEEN $first AND $last) o USING (id)
LEFT JOIN (SELECT id, name FROM stage.ranges WHERE kind = 'module') m ON m.id = f.module_id
LEFT JOIN (SELECT id, name, domain FROM stage.ranges WHERE kind = 'phase') p ON p.id = f.phase_id
