-- title = "By layer"
-- doc = """Per step and rank, forward and backward, in order of the time above the roofline."""
-- cannot = """No operator of this trace has recorded arguments, and no copy or collective was recorded (PyTorch records
-- shapes with record_shapes=True)."""
-- subject = "layers"
-- leave_out = ["calls", "share_pct"]
-- rest = ["calls", "busy_ns", "share_pct", "floor_ns", "above_ns"]
-- [columns]
-- layer = "module or layer that the operators ran for"
-- direction = "forward or backward"
-- calls = "calls per step"
-- busy_ns = "device time per step"
-- share_pct = "of all device time"
-- achieved_flop_per_s = "products and other arithmetic over that time"
-- throughput_bytes_per_s = "least traffic over that time; of transfers and collectives over the link"
-- attainable_pct = """time that the roofline allows, of the time taken; empty where peaks or costs are not known, and
-- where it took less time than they allow"""
-- floor_ns = "time per step that the roofline allows"
-- above_ns = "time per step above it"
-- bound = """what most of the time rests on: compute, memory, link; launch where calls are too short to tell. Cannot
-- tell where it took less time than the peaks allow: a cache gave what memory did not have to, a convolution took fewer
-- FLOP than the direct method (Winograd, FFT), the clock was above the noted one, or a tensor was read in part"""
-- [headings]
-- share_pct = "of device time"
-- attainable_pct = "of attainable"
-- [fractions]
-- calls = "calls/step"
SELECT layer, direction, calls, busy_ns, share_pct, achieved_flop_per_s, throughput_bytes_per_s, attainable_pct,
    floor_ns, above_ns, bound
FROM rooflines WHERE part = 'layer'
ORDER BY above_ns DESC NULLS LAST, busy_ns DESC, layer, direction
