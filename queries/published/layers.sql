-- title = "Layers of a log"
-- doc = "Average times of convolutions whose shapes a log tells, in its order."
-- [columns]
-- network = "what the log calls the network"
-- layer = "what it calls the layer"
-- impl = "what it calls the implementation"
-- direction = "as in layer_times"
-- dur_ns = "average time"
-- n = "calls that this is the average of"
-- workspace = "as printed"
-- shape = "images, channels, height and width, filters, filter size, stride, padding"
SELECT network, layer, impl, direction, dur_ns, n, workspace, shape
FROM layer_times WHERE shape IS NOT NULL
ORDER BY id
