-- title = "Iterations that an inference engine marks"
-- doc = """Iterations as SGLang (`step[DECODE bs=32]`), vLLM and engines that follow its names
-- (`execute_context_2(64)_generation_1(1)`) and TensorRT-LLM (`_forward_step 3: 1 ctx reqs, 2 gen reqs`) mark them,
-- unless one is inside of another."""
WITH mark AS (
    SELECT start_ns, start_ns + dur_ns AS end_ns, id, max(start_ns + dur_ns) OVER (ORDER BY start_ns, dur_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns
    FROM stage.ranges
    WHERE kind IN ('user', 'nvtx')
        AND regexp_matches(name, '^(step\[[A-Z_]+[ \]]|execute_(\d+_)?(new|cached|context|generation|diffusion)_\d'
            || '|(\[Executor\] )?_forward_step( \d+)?: \d+ ctx reqs, )')
)
SELECT start_ns, end_ns FROM mark WHERE covered_ns IS NULL OR start_ns >= covered_ns ORDER BY start_ns, id
