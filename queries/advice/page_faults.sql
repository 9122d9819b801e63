-- title = "Page faults: memory freed and reallocated in every step"
-- doc = """Processor time in the system's kernel while steps were recorded, where many pages were touched for the first
-- time: the allocator gives large buffers back to the system and gets fresh, empty pages in the next step. The bound is
-- all of that processor time, summed over the threads: no step can gain more."""
-- why = """Every page of a new buffer costs a page fault, in which the operating system also clears it; an allocator
-- that keeps its buffers pays once."""
-- cost = "The process holds on to the memory."
-- unless = "Buffers grow because shapes change, or the system time is spent on I/O."
-- needs = ["usage"]
-- [fix]
-- pytorch = """LD_PRELOAD a caching allocator (jemalloc, tcmalloc), or MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_MAX_=0
-- (glibc); reuse buffers (out=, inplace, zero_grad(set_to_none=False))"""
-- tensorflow = "LD_PRELOAD jemalloc or tcmalloc, or MALLOC_TRIM_THRESHOLD_=-1 MALLOC_MMAP_MAX_=0 (glibc)"
-- jax = "donate_argnums, and LD_PRELOAD jemalloc or tcmalloc"
-- any = """an allocator that keeps large buffers: LD_PRELOAD jemalloc or tcmalloc, or MALLOC_TRIM_THRESHOLD_=-1
-- MALLOC_MMAP_MAX_=0 (glibc); transparent huge pages"""
-- [params]
-- fault_step_pct = { type = "DOUBLE", default = 3, doc = """found where the system's time is more than this share of
-- the recorded time, and of the processor time where that is less, in percent""" }
-- faults_per_step = { type = "DOUBLE", default = 1000, doc = "and more pages than this are faulted in per step" }
SELECT p.rank,
    format('{:,.0f} pages are faulted in per step ({:.1f} MB if they are of 4 KiB); the system works {:.3f} ms '
        || 'per step for the process.',
        minor_faults / n_recorded, 4096e-6 * minor_faults / n_recorded, system_ns / n_recorded / 1e6) AS problem,
    NULL AS place, system_ns / n_recorded AS saving_ns,
    if(p.rank IN (SELECT rank FROM compilations WHERE step IS NOT NULL), 'low: code was compiled within the steps, and '
        || 'its faults are among these', 'medium: the counts are those of the whole process; the system''s time holds '
        || 'more than page faults') AS confidence,
    [format('{} steps: {:,} page faults, {:.3f} ms in the system, {:.3f} ms in the program, {:.3f} ms on the clock',
        n_recorded,
        minor_faults, system_ns / 1e6, user_ns / 1e6, recorded_ns / 1e6)] AS evidence
FROM processes p
-- On a busy machine most of the time on the clock is that of other programs.
WHERE n_recorded > 0 AND 100.0 * system_ns > $fault_step_pct * least(recorded_ns, user_ns + system_ns)
    AND minor_faults > $faults_per_step * n_recorded
    AND p.rank NOT IN (SELECT rank FROM raw.kernels)
ORDER BY p.rank
