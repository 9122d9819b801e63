-- title = "Operators of a level in which something ran"
-- doc = "Operators of `stack_level`, with stacks."
SELECT l.op_id, l.stack FROM stack_level l SEMI JOIN stack_used u ON u.op_id = l.op_id
