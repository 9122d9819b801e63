-- title = "A request for one algorithm"
-- missing = "no recorded setting asks for one algorithm of convolutions (Theano's dnn.conv.algo_*)"
SELECT EXISTS (FROM requested_algorithms)
