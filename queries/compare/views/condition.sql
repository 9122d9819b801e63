-- doc = """Conditions that have to be equal to rank two runs, per run after the first. Options that were tried on one
-- and the same command may change what is recorded of model, precision and passes. A model that is not recorded is
-- taken for the same only where both ran the same command. Work is listed where the same convolutions, or without
-- them the same products and recurrent layers, compute another amount for each sample, or step without a batch, beyond
-- 1 %."""
-- [params]
-- accepted = { type = "VARCHAR[]", default = [], doc = "conditions that may differ" }
-- [columns]
-- run = "number of the run"
-- position = "place in the list"
-- condition = "model, batch, precision, passes or work"
-- base_value = "of A"
-- value = "of the run"
-- verdict = """same, differs, differs (accepted), differs (options tried), not recorded, not recorded (accepted) or
-- not recorded (same command)"""
-- detail = "what only one of them has, or the options that were tried"
WITH told AS (
    SELECT run, kinds, filters, products,
        coalesce(kinds, nullif(concat_ws(', ', 'filters: ' || len(string_split(filters, '; ')),
            'products: ' || len(string_split(products, '; ')),
            if(size > 0, format('{:,d} parameters', CAST(size AS BIGINT)), NULL)), ''),
            format('{:,d} parameters', noted_parameters), 'not recorded') AS model,
        if(is_convless, [], string_split(coalesce(filters, kinds), '; ')) AS filter_list, is_convless, is_productless,
        noted_parameters, size,
        string_split(products, '; ') AS product_list,
        batch, is_served, precision, has_backward, has_update, sample_flop,
        if(filters IS NULL AND batch IS NULL, 'step', 'sample') AS work_of,
        trained_filters,
        concat_ws(', ', 'forward', if(has_backward, 'backward' || if(trained_filters < len(string_split(filters, '; ')),
                format(' of {} of {} filters', trained_filters, len(string_split(filters, '; '))), ''), NULL),
            if(has_update, 'update', NULL))
            || if(has_backward IS NULL AND has_update IS NULL, '; the rest unknown',
                if(has_update IS NULL, '; update unknown',
                    if(has_backward IS NULL, '; backward unknown', ''))) AS passes
    -- Where shapes are recorded, a run without a convolution is not one whose convolutions are unknown.
    FROM (SELECT *, greatest(parameters, noted_parameters) AS size,
        filters IS NULL AND products IS NOT NULL AND run NOT IN (SELECT c.run FROM cell c WHERE c.category = 'conv')
            AS is_convless,
        filters IS NOT NULL AND products IS NULL AND run NOT IN (SELECT c.run FROM cell c WHERE c.category = 'gemm')
            AS is_productless FROM run)
), commanded AS (
    -- Both ran the same command.
    SELECT b.run FROM setting a JOIN setting b ON b.value = a.value AND b.kind = 'command'
    WHERE a.run = 0 AND a.kind = 'command' GROUP BY b.run
), tried AS (
    SELECT r.run, string_agg(DISTINCT o.name, ', ' ORDER BY o.name) AS names
    FROM run r JOIN setting o ON o.run IN (0, r.run) AND o.kind = 'option' AND starts_with(o.value, 'yes')
    WHERE r.run > 0
        AND NOT EXISTS (FROM setting s WHERE s.run IN (0, r.run) AND s.run <> o.run AND s.kind = 'option'
            AND s.name = o.name AND starts_with(s.value, 'yes'))
        AND r.run IN (SELECT run FROM commanded)
    GROUP BY r.run
), compared AS (
    SELECT r.run, c.position, c.condition,
        CASE c.condition WHEN 'model' THEN b.model WHEN 'batch' THEN CAST(b.batch AS VARCHAR)
            WHEN 'precision' THEN b.precision WHEN 'passes' THEN b.passes
            ELSE format('{:.3g} MFLOP per {}', b.sample_flop / 1e6, b.work_of) END AS base_value,
        CASE c.condition WHEN 'model' THEN r.model WHEN 'batch' THEN CAST(r.batch AS VARCHAR)
            WHEN 'precision' THEN r.precision WHEN 'passes' THEN r.passes
            ELSE format('{:.3g} MFLOP per {}', r.sample_flop / 1e6, r.work_of) END AS value,
        -- NULL: the two do not say enough to tell.
        CASE c.condition
            WHEN 'model' THEN CASE
                WHEN b.is_convless AND r.filters IS NOT NULL OR r.is_convless AND b.filters IS NOT NULL THEN false
                WHEN b.is_productless AND r.products IS NOT NULL OR r.is_productless AND b.products IS NOT NULL
                    THEN false
                WHEN b.filters <> r.filters OR b.products <> r.products THEN false
                -- Embeddings and recurrent layers are neither; biases alone make no other model.
                WHEN b.noted_parameters <> r.noted_parameters
                    AND abs(b.size - r.size) > 0.01 * greatest(b.size, r.size) THEN false
                -- Convolutions that agree are half of what tells: products that one of the two does not record may not.
                WHEN b.filters = r.filters AND (b.products IS NULL) <> (r.products IS NULL)
                    OR b.products = r.products AND (b.filters IS NULL) <> (r.filters IS NULL)
                    THEN b.noted_parameters = r.noted_parameters
                ELSE coalesce(b.filters = r.filters, b.products = r.products, b.kinds = r.kinds,
                    b.noted_parameters = r.noted_parameters) END
            -- A server's mean of tokens is hardly twice the same.
            WHEN 'batch' THEN abs(b.batch - r.batch) <= if(b.is_served AND r.is_served, 0.01 * b.batch, 0)
            WHEN 'precision' THEN b.precision = r.precision
            WHEN 'work' THEN coalesce(b.filters, b.products, '') <> coalesce(r.filters, r.products, '')
                OR if(b.work_of = r.work_of, abs(r.sample_flop / nullif(b.sample_flop, 0) - 1) <= 0.01, NULL)
            -- A part that is frozen has no gradients.
            ELSE coalesce(b.has_backward = r.has_backward AND coalesce(b.has_update = r.has_update, true),
                b.has_update = r.has_update)
                AND coalesce(b.filters <> r.filters OR b.trained_filters = r.trained_filters, true) END AS is_same,
        CASE c.condition WHEN 'work' THEN format('the same {} compute {:.3g} times as much for each {} as in A: '
            || 'inputs of another {}', if(r.filters IS NULL, 'products', 'convolutions'),
            r.sample_flop / nullif(b.sample_flop, 0), r.work_of, CASE WHEN r.filters IS NOT NULL
                THEN 'size, or other strides' WHEN r.work_of = 'step' THEN 'batch or length' ELSE 'length' END)
            WHEN 'model' THEN concat_ws('; ',
            'only in A: '
                || nullif(array_to_string(list_sort(list_concat(list_filter(b.filter_list,
                lambda x: NOT list_contains(r.filter_list, x)),
                list_filter(b.product_list, lambda x: NOT list_contains(r.product_list, x))))[:4], ', '), ''),
            'only in this run: '
                || nullif(array_to_string(list_sort(list_concat(list_filter(r.filter_list,
                lambda x: NOT list_contains(b.filter_list, x)),
                list_filter(r.product_list, lambda x: NOT list_contains(b.product_list, x))))[:4], ', '),
                    '')) END AS detail,
        CASE WHEN c.condition <> 'model' THEN NULL
            WHEN b.model = 'not recorded' AND r.model = 'not recorded' THEN 'neither records it'
            WHEN r.model = 'not recorded' THEN 'A alone records it'
            WHEN b.model = 'not recorded' THEN 'A does not record it'
            WHEN b.filters = r.filters THEN format('the same convolutions, but A {} products',
                if(b.products IS NULL, 'records no', 'alone records'))
            WHEN b.products = r.products THEN format('the same products, but A {} convolutions',
                if(b.filters IS NULL, 'records no', 'alone records'))
            ELSE 'they record it in different terms' END AS lacking
    FROM told r JOIN told b ON b.run = 0
    CROSS JOIN (VALUES (1, 'model'), (2, 'batch'), (3, 'precision'), (4, 'passes'), (5, 'work')) c(position, condition)
    WHERE r.run > 0
)
SELECT c.run, position, condition, coalesce(base_value, 'not recorded') AS base_value,
    coalesce(value, 'not recorded') AS value,
    CASE WHEN is_same THEN 'same'
        WHEN is_same IS NULL THEN 'not recorded' || CASE WHEN list_contains($accepted, condition) THEN ' (accepted)'
            WHEN condition = 'model' AND c.run IN (SELECT run FROM commanded) THEN ' (same command)' ELSE '' END
        WHEN list_contains($accepted, condition) THEN 'differs (accepted)'
        WHEN t.run IS NOT NULL AND condition NOT IN ('batch', 'work') THEN 'differs (options tried)'
        ELSE 'differs' END AS verdict,
    CASE WHEN is_same THEN NULL WHEN is_same IS NOT NULL AND t.run IS NOT NULL AND condition NOT IN ('batch', 'work')
        THEN t.names WHEN NOT is_same THEN nullif(detail, '')
        ELSE lacking END AS detail
FROM compared c LEFT JOIN tried t ON t.run = c.run
WHERE condition <> 'work' OR NOT is_same
ORDER BY c.run, position
