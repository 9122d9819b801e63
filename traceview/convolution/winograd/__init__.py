"""Winograd convolution: matrices of the transforms, fused kernels, and the assembler that makes them."""
