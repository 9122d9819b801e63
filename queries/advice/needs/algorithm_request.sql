-- title = "A request for one algorithm"
-- record = "settings that traceview collect notes"
-- missing = "no recorded setting asks for one algorithm of convolutions (Theano's dnn.conv.algo_*)"
SELECT EXISTS (FROM requested_algorithms)
