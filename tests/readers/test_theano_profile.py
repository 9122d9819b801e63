"""Theano's profile: apply nodes with their direction, operations as summaries, and what Theano left out."""

# ruff: noqa: E501 -- lines of logs are as long as the tool prints them

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asked import opened, rows

from traceview.decode.files import peek
from traceview.errors import InputError
from traceview.readers import READERS, theano_profile

LOG = """\
Function profiling
==================
  Message: train.py:10
  Time in 2 calls to Function.__call__: 2.102852e-03s
  Time in Function.fn.__call__: 2.052307e-03s (97.596%)
Class
---
<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Class name>
  97.9%    97.9%       0.020s       1.58e-04s     C       12       6   theano.tensor.nnet.corr.CorrMM
   ... (remaining 0 Classes account for   0.00%(0.00s) of the runtime)

Ops
---
<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Op name>
  97.9%    97.9%       0.020s       1.58e-04s     C       12        6   CorrMM{half, (1, 1), (1, 1), 1 False}
   ... (remaining 0 Ops account for   0.00%(0.00s) of the runtime)

Apply
------
<% time> <sum %> <apply time> <time per call> <#call> <id> <Mflops> <Gflops/s> <Apply name>
  92.3%    92.3%       0.018s       8.76e-04s      2     3      46.2      39.7   CorrMM{half, (1, 1), (1, 1), 1 False}(x, Subtensor{::, ::}.0)
    input 0: dtype=float32, shape=(16, 3, 224, 224), strides=c
   2.6%    94.9%       0.000s       2.46e-05s      2     2      46.2      39.7   CorrMM_gradWeights{half, (1, 1), (1, 1), 1 False}(x, y)
   ... (remaining 3 Apply instances account for 5.10%(0.00s) of the runtime)
"""
OTHER = """\
    Function profiling
    ==================
      Message: predict.py:3
    Apply
    ------
    <% time> <sum %> <apply time> <time per call> <#call> <id> <Apply name>
      50.0%    50.0%       0.078s       7.83e-05s   1000    14   GpuDnnConvGradI{algo='none', inplace=False}(GpuContiguous.0)
      30.0%    80.0%       0.068s       7e-05s   1000    15   Pool{ignore_border=True, mode='max', ndim=2}(CorrMM.0)
      20.0%   100.0%       0.058s       6e-05s   1000    16   GpuElemwise{Add}[(0, 0)](a, b)
"""


def test_apply_nodes_with_their_direction(tmp_path: Path) -> None:
    found = opened(tmp_path, LOG + OTHER)
    assert rows(found, "SELECT run, network, layer[:12], type[:20], kind, direction, dur_ns, n FROM layer_times ORDER BY id") == [
        (1, "train.py:10", None, None, None, None, 1_051_426, 2),
        (1, "train.py:10", "CorrMM{half,", "CorrMM{half, (1, 1),", "conv", "forward", 876_000, 2),
        (1, "train.py:10", "CorrMM_gradW", "CorrMM_gradWeights{h", "conv", "backward_filter", 24_600, 2),
        (2, "predict.py:3", "GpuDnnConvGr", "GpuDnnConvGradI{algo", "conv", "backward_data", 78_300, 1000),
        (2, "predict.py:3", "Pool{ignore_", "Pool{ignore_border=T", "pooling", "forward", 70_000, 1000),
        (2, "predict.py:3", "GpuElemwise{", "GpuElemwise{Add}", "elementwise", None, 60_000, 1000),
    ]  # fmt: skip


def test_operations_are_summaries(tmp_path: Path) -> None:
    assert rows(opened(tmp_path, LOG), "SELECT section, name, calls, total_ns, avg_ns FROM summaries ORDER BY id") == [
        ("Classes", "theano.tensor.nnet.corr.CorrMM", 12, 20_000_000, 158_000),
        ("Ops", "CorrMM{half, (1, 1), (1, 1), 1 False}", 12, 20_000_000, 158_000),
    ]


def test_what_theano_left_out_is_told(tmp_path: Path) -> None:
    warnings = rows(opened(tmp_path, LOG), "SELECT unnest(warnings) FROM captures")
    assert warnings[0][0].startswith("Theano left out 3 apply nodes of train.py:10")


@pytest.mark.long
@pytest.mark.parametrize("end", range(400, len(LOG), 131))
def test_cut_at_any_byte(tmp_path: Path, end: int) -> None:
    try:
        found = opened(tmp_path, LOG[:end])
    except InputError as error:
        assert "<Class name>" not in LOG[:end], error
        return
    assert rows(found, "SELECT n_events = n_kept + coalesce(n_dropped, 0) FROM captures") == [(True,)]


def test_it_is_known_by_content_alone(tmp_path: Path) -> None:
    unknown = tmp_path / "unknown"
    for text in (LOG, OTHER):
        unknown.write_text(text)
        assert [reader for reader in READERS if reader.sniff(peek(unknown))] == [theano_profile]


def test_a_real_profile_names_passes_of_convolutions(root: Path, captures: Any) -> None:
    """LeNet, batch 64: the first layer has no gradient of its input; Theano printed every node, so nothing is missing."""
    found = captures.open(root / "samples/theano_profile/theano-1.0.5-lenet-cpu.txt.gz")
    assert rows(found, "SELECT direction, count(*) FROM layer_times WHERE kind = 'conv' GROUP BY ALL ORDER BY 1") == [
        ("backward_data", 1),
        ("backward_filter", 2),
        ("forward", 2),
    ]
    assert rows(
        found, "SELECT kind, count(*) FROM layer_times WHERE kind IN ('pooling', 'activation') GROUP BY ALL ORDER BY 1"
    ) == [
        ("activation", 3),
        ("pooling", 4),
    ]
    losses = "SELECT type, direction FROM layer_times WHERE kind = 'softmax_loss' ORDER BY type"
    assert rows(found, losses) == [
        ("CrossentropySoftmax1HotWithBiasDx", "backward"),
        ("CrossentropySoftmaxArgmax1HotWithBias", "forward"),
    ]
    nodes, whole = rows(
        found,
        "SELECT sum(dur_ns) FILTER (layer IS NOT NULL), any_value(dur_ns) FILTER (layer IS NULL) FROM layer_times",
    )[0]
    assert 0.9 < nodes / whole < 1
    assert rows(found, "SELECT count(*) FROM captures, unnest(warnings) AS t(w) WHERE w LIKE 'Theano left%'") == [(0,)]
