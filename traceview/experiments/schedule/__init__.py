"""Plans the algorithm of each pass of each convolution of a model, and proves the plan in whole steps."""
