-- title = "Pass of a training step"
-- doc = """The macro `training_pass(is_carried, has_op, op_is_backward, op_phase, layer, category, direction)`, of an
-- activity: forward, backward, or other: optimizer, data, what has neither a layer nor a pass."""
CREATE OR REPLACE MACRO training_pass(is_carried, has_op, op_is_backward, op_phase, layer, category, direction) AS
    CASE WHEN op_is_backward OR op_phase = 'backward' OR direction IN ('dgrad', 'wgrad') THEN 'backward'
        WHEN direction = 'fprop' AND NOT is_carried THEN 'forward'
        WHEN is_carried OR op_phase IN ('optimizer', 'data') OR category = 'optimizer' OR NOT has_op
            -- Without a layer, what only layers compute, and not a gradient, is of the forward pass.
            OR (layer IS NULL AND op_phase IS NULL AND category NOT IN ('conv', 'gemm', 'bias', 'activation',
                'pooling', 'lrn', 'batch_norm', 'layer_norm', 'softmax_loss', 'attention', 'rnn')) THEN 'other'
        ELSE 'forward' END
