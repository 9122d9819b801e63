"""Back-ends: libraries that compute a convolution, one self-contained file each.

A back-end runs in the Python of the user, where traceview may be absent: it imports the standard library, torch and
modules of this package (`from .runners import ...`), and nothing else of traceview. It has

    NAME                    what the column `backend` holds
    DEVICES                 cpu, cuda: where it can run
    version() -> str        of the library
    missing() -> str|None   (may be left out) what it needs and is not here: driver, package
    implementations(layer, direction) -> [dict]
    prepare(implementation, layer, direction) -> Runner

`layer` has the attributes batch, in_channels, height, width, out_channels, filter_height, filter_width, stride_h,
stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, dtype and device, and under a plan layout: the plain layout of
the results. `direction` is fprop, dgrad or wgrad.

An implementation is a dict: `implementation` (the library's name; unique with the layouts), `algorithm` (a word of
docs/vocabulary.md, or None where the classification of that name tells), `layout_in` and `layout_out`, `reason` (why it
cannot run this layer, else None) and whatever the back-end needs to find it again; `label` where a plan needs more than
`implementation` to name it. Nothing runs to list them.

In every pass `layout_in` is that of the layer's input or of its gradient, `layout_out` that of its output or of its
gradient: nchw, nhwc or the library's own name of a blocked one. Layers fit together where one's `layout_out` is the
next one's `layout_in`.

A Runner computes the pass (`runners.Runner` has what most share); under a plan, one that is callable is called with the
operands as they are and the bias:

    operands                names of what it takes, in order: input and filter for fprop, grad_output and filter for
                            dgrad, input and grad_output for wgrad
    pack(name, tensor)      a tensor as plain PyTorch has it -> what `run` takes (its layout, a transformed filter);
                            does nothing where the tensor lies well already
    run(*packed) -> out     the pass, into new memory; several threads may call it at once
    unpack(out) -> tensor   logically NCHW (of wgrad KCRS), whatever its strides
    workspace_bytes         beyond operands and result, or None where the library does not tell
    implementation          the name of what was created, asked of the library; None where only a trace tells
    shares, elsewhere_bytes (may be left out) how many threads each allocate what the calling one does; what others do
    held_bytes              (may be left out) the transformed filter, where `pack` makes one
    takes_bias              (may be left out) True where `run` takes a bias as third
    operators               (may be left out) names of operators that a trace of the run has to show
"""
